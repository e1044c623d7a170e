// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The parts of timelines for Perfetto, and files of torch.profiler to which they are added.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "storage/base/part_file.h"
#include "storage/convert/chrome_events.h"
#include "storage/convert/perfetto.h"
#include "storage/convert/profiler_trace.h"
#include "storage/convert/span_lanes.h"
#include "tests/unit/temporary_folder.h"

namespace tidemark {
namespace {

using namespace test;
using nlohmann::json;

struct Drawn {
    int64_t lane, start, end;
};

TEST(SpanLanes, SpansOfALaneNestOrAreApart) {
    std::mt19937 random(7);
    std::vector<std::pair<int64_t, int64_t>> spans;
    for (int i = 0; i < 3000; ++i) {
        const int64_t start = random() % 200'000;
        spans.emplace_back(start, start + static_cast<int64_t>(random() % (i % 5 == 0 ? 200'000 : 300)));
    }
    std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    SpanLanes lanes;
    std::vector<std::vector<Drawn>> drawn;
    for (const auto& [start, end] : spans) {
        const SpanLanes::Place place = lanes.place(start, end);
        EXPECT_GE(place.end, start);
        EXPECT_LE(place.end, end);
        drawn.resize(static_cast<size_t>(lanes.count()));
        for (const Drawn& other : drawn[static_cast<size_t>(place.lane)]) {
            // Zero-length spans at the end of another one are apart.
            EXPECT_TRUE(other.end <= start || place.end <= other.end || place.end == start)
                << other.start << ' ' << other.end << ' ' << start << ' ' << place.end;
        }
        drawn[static_cast<size_t>(place.lane)].push_back({place.lane, start, place.end});
    }
}

TEST(SpanLanes, NestedAndSuccessiveSpansNeedOneLane) {
    SpanLanes lanes;
    EXPECT_EQ(lanes.place(0, 1000).lane, 0);
    EXPECT_EQ(lanes.place(0, 1000).lane, 0);    // equal
    EXPECT_EQ(lanes.place(100, 500).lane, 0);   // inside
    EXPECT_EQ(lanes.place(500, 1000).lane, 0);  // follows inside
    EXPECT_EQ(lanes.place(900, 2000).lane, 1);  // overlaps
    EXPECT_EQ(lanes.place(1000, 1500).lane, 0);
    EXPECT_EQ(lanes.count(), 2);
}

/// Returns the events that `write` writes.
template <class Write>
json events(Write&& write) {
    std::string text = "[";
    const TakeBytes take = [&](std::string_view bytes) {
        text += bytes;
        return Status();
    };
    ChromeEvents written(take);
    write(written);
    EXPECT_TRUE(written.finish());
    return json::parse(text + "]");
}

TEST(ChromeEvents, TimesKeepTheirNanoseconds) {
    const json list = events([](ChromeEvents& to) {
        to.span({7, 8}, "a \"name\"\n", 4'395'042'085'125'836, 4'395'042'085'126'001, {{"bytes", int64_t{5}}});
        to.instant({7, 8}, "mark", -1'500, {{"value", 0.5}, {"empty", std::string_view()}});
        to.bytes(7, "Allocated", 12, 34);
        to.instant({7, 8}, "first", INT64_MIN, {});
    });
    ASSERT_EQ(list.size(), 4u);
    EXPECT_EQ(list[0], json::parse(R"({"ph": "X", "name": "a \"name\"\\n", "pid": 7, "tid": 8, "ts": 4395042085125.836,
                                       "dur": 0.165, "args": {"bytes": 5}})"));
    EXPECT_EQ(list[1], json::parse(R"({"ph": "i", "name": "mark", "pid": 7, "tid": 8, "s": "t", "ts": -1.5,
                                       "args": {"value": 0.5}})"));
    EXPECT_EQ(list[2]["args"], json::parse(R"({"bytes": 34})"));
}

TEST(ProfilerBase, IsThatOfTorchProfiler) {
    // torch 2.15 wrote this base at this time.
    EXPECT_EQ(profiler_base(1'795'815'048'131'309'296), 1'790'857'026'000'000'000);
    EXPECT_EQ(profiler_base(0), 0);
}

json with_event(const std::string& file) {
    const TemporaryFolder folder;
    EXPECT_TRUE(write_file(folder / "profile.json", file));
    Progress progress;
    const auto profile = ProfilerTrace::open(folder / "profile.json", progress);
    if (!profile) {
        return profile.error().sentence.english();
    }
    std::string text;
    EXPECT_TRUE(profile->write_with([](const TakeBytes& take) { return take(R"({"ph":"new"})"); },
                                    [&](std::string_view bytes) {
                                        text += bytes;
                                        return Status();
                                    },
                                    progress));
    json written = json::parse(text);
    written["base"] = profile->base();
    return written;
}

TEST(ProfilerTrace, EventsAreAddedToTheListOfTheFile) {
    EXPECT_EQ(with_event(R"({"baseTimeNanoseconds": 5, "x": {"traceEvents": [1]}, "traceEvents": [ {"ph":"X"} ]})"),
              json::parse(R"({"baseTimeNanoseconds": 5, "x": {"traceEvents": [1]}, "base": 5,
                              "traceEvents": [{"ph":"new"}, {"ph":"X"}]})"));
    EXPECT_EQ(with_event(R"({"traceEvents":[],"baseTimeNanoseconds":1790857026000000000})"),
              json::parse(R"({"traceEvents": [{"ph":"new"}], "baseTimeNanoseconds": 1790857026000000000,
                              "base": 1790857026000000000})"));
    EXPECT_EQ(with_event(R"({"traceEvents":[5]})"), json::parse(R"({"traceEvents": [{"ph":"new"}, 5], "base": 0})"));
    EXPECT_EQ(with_event(R"({"traceEvents":[{"args":{"traceEvents":[]}}]})"),
              json::parse(R"({"traceEvents": [{"ph":"new"}, {"args":{"traceEvents":[]}}], "base": 0})"));
}

TEST(ProfilerTrace, OtherFilesAreRefused) {
    for (const std::string file :
         {"hello", "[]", "{}", R"({"traceEvents": 5})", R"({"traceEvents": [1, 2)", R"({"a": {"traceEvents": []}})",
          R"({"traceEvents": [], "baseTimeNanoseconds": -1})"}) {
        EXPECT_TRUE(with_event(file).is_string()) << file;
    }
}

}  // namespace
}  // namespace tidemark
