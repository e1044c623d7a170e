// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Imports snapshots that are damaged in parts, or that strangers recorded with other options.
#include "storage/import/import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "storage/attribution/attribution.h"
#include "storage/text/data_gap_words.h"
#include "tests/unit/snapshot_builder.h"
#include "tests/unit/temporary_folder.h"

namespace tidemark {
namespace {

using namespace test;

using Damage = std::map<std::string, int64_t>;

/// Returns an event of the default snapshot with one value replaced.
Json alloc_with(const char* key, Json value) {
    Json alloc = event("alloc", base, 500);
    alloc[key] = std::move(value);
    return alloc;
}

Damage damage_of(const Json& snapshot) { return read_json(snapshot).damaged; }

TEST(Import, DamagedOptionalFieldsOfEventsCostOnlyThemselves) {
    const std::pair<const char*, Json> fields[]{{"time_us", "noon"},    {"stream", "main"},
                                                {"stream", -1},         {"frames", 5},
                                                {"pool_id", "private"}, {"pool_id", Json::array({1, 2, 3})},
                                                {"compile_context", 5}, {"frames", Json::array({1})}};
    for (const auto& [key, value] : fields) {
        const Snapshot read = read_json(traces_only({alloc_with(key, value), event("free_requested", base, 500)}));
        EXPECT_EQ(read.damaged, (Damage{{std::string("event.") + key, 1}})) << key;
        ASSERT_EQ(read.traces.at(0).size(), 2u);
        EXPECT_EQ(read.traces[0][0].address, base);
        EXPECT_EQ(read.traces[0][0].size, 500u);
    }
    const Snapshot untimed = read_json(traces_only({alloc_with("time_us", 1.5)}));
    EXPECT_EQ(untimed.traces[0][0].time_us, no_time);
}

TEST(Import, DamagedOptionalFieldsOfSegmentsAndBlocksCostOnlyThemselves) {
    Json all = segment(base, Json::array({block(base, mib, "asleep"), block(base + mib, mib, "active_allocated")}));
    all["device"] = 4096;
    all["stream"] = "main";
    all["segment_type"] = 7;
    all["is_expandable"] = "yes";
    all["segment_pool_id"] = 3;
    all["frames"] = "none";
    all["future_key"] = Json::object();
    all["blocks"][1]["requested_size"] = "all";
    all["blocks"][1]["frames"] = 0.5;
    const Snapshot read = read_json({{"segments", {all}}});
    EXPECT_EQ(read.damaged, (Damage{{"block.frames", 1},
                                    {"block.requested_size", 1},
                                    {"block.state", 1},
                                    {"segment.device", 1},
                                    {"segment.frames", 1},
                                    {"segment.is_expandable", 1},
                                    {"segment.segment_pool_id", 1},
                                    {"segment.segment_type", 1},
                                    {"segment.stream", 1}}));
    ASSERT_EQ(read.segments.size(), 1u);
    EXPECT_EQ(read.segments[0].total_size, 2 * mib);
    EXPECT_EQ(read.segments[0].blocks.at(1).requested, mib) << "an unknown request is the block's size";
}

TEST(Import, BlocksThatCannotBeAreLeftOut) {
    const Json outside = segment(base, Json::array({block(base + 2 * mib, 512, "inactive")}));
    EXPECT_EQ(damage_of({{"segments", {outside}}}), (Damage{{"block.address", 1}}));
    const Json overlap =
        segment(base, Json::array({block(base, 1024, "active_allocated"), block(base + 512, 512, "inactive")}));
    const Snapshot read = read_json({{"segments", {overlap}}});
    EXPECT_EQ(read.damaged, (Damage{{"block.address", 1}}));
    ASSERT_EQ(read.segments.at(0).blocks.size(), 2u);
    EXPECT_EQ(read.segments[0].blocks[0].size, 1024u);
    EXPECT_EQ(read.segments[0].blocks[1].size, 2 * mib - 1024);
}

TEST(Import, OtherThingsInListsAreLeftOut) {
    EXPECT_EQ(damage_of(traces_only({event("alloc", 1, 1), 5})), (Damage{{"event", 1}}));
    EXPECT_EQ(damage_of(traces_only({event("alloc", 1, 1), segment(base, Json::array())})), (Damage{{"segment", 1}}));
    Json frames = traces_only({event("alloc", 1, 1)});
    frames["device_traces"][0][0]["frames"] = Json::array({frame("f", "a.py", 1), 5});
    const Snapshot read = read_json(frames);
    EXPECT_EQ(read.damaged, (Damage{{"frame", 1}}));
    EXPECT_EQ(stack_text(read, read.traces[0][0].stack), "a.py:1:f;");
}

TEST(Import, DamagedListsDoNotCostTheOthers) {
    Json all = full_snapshot();
    all["external_annotations"] = 5;
    all["allocator_settings"] = "none";
    all["segments"] = "none";
    const Snapshot read = read_json(all);
    EXPECT_EQ(
        read.damaged,
        (Damage{{"snapshot.allocator_settings", 1}, {"snapshot.external_annotations", 1}, {"snapshot.segments", 1}}));
    EXPECT_FALSE(read.traces.empty());
}

TEST(Import, PoolsMayBeListsOfTwo) {
    Json all = segment(base, Json::array());
    all["segment_pool_id"] = Json::array({0, 3});
    const Snapshot read = read_json({{"segments", {all}}});
    EXPECT_TRUE(read.damaged.empty());
    EXPECT_EQ(read.pools.at(read.segments.at(0).pool), (PoolKey{0, 3}));
}

TEST(Import, CodeOfTorchCompileHasNoLine) {
    Json lines = traces_only({event("alloc", base, 512)});
    Json generated = frame("call", "<eval_with_key>.2", 0);
    generated["line"] = UINT64_MAX;
    lines["device_traces"][0][0]["frames"] = Json::array({generated});
    const Snapshot read = read_json(lines);
    EXPECT_TRUE(read.damaged.empty());
    EXPECT_EQ(stack_text(read, read.traces[0][0].stack), "<eval_with_key>.2:0:call;");
}

TEST(Import, MoreStreamsThanCanBeNumberedShareOne) {
    Json events = Json::array();
    for (int i = 0; i < 65'540; ++i) {
        events.push_back({{"action", "alloc"}, {"addr", 1}, {"stream", i}});
    }
    const Snapshot read = read_json(traces_only(events));
    EXPECT_EQ(read.streams.size(), 65'536u);
    EXPECT_EQ(read.damaged, (Damage{{"event.stream", 4}}));
}

/// A trace that was imported from a pickle of `snapshot`.
std::shared_ptr<Trace> import(const Json& snapshot) {
    const TemporaryFolder folder;
    const std::string path = folder / "run.pickle";
    const Bytes bytes = pickle_of(snapshot);
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    Progress progress;
    auto trace = read_snapshot_trace(path, progress);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().sentence.english());
    return trace ? *trace : std::make_shared<Trace>();
}

const DataGap* gap_of(const Trace& trace, DataGapReason reason) {
    const auto found = std::find_if(trace.data_gaps.begin(), trace.data_gaps.end(),
                                    [&](const DataGap& gap) { return gap.reason == reason; });
    return found == trace.data_gaps.end() ? nullptr : &*found;
}

TEST(Import, DamagedValuesAreADataGap) {
    const auto trace = import(traces_only({alloc_with("stream", "main"), alloc_with("frames", 5)}));
    const DataGap* gap = gap_of(*trace, DataGapReason::damaged_fields);
    ASSERT_NE(gap, nullptr);
    EXPECT_EQ(gap->count, 2);
    EXPECT_EQ(gap->argument("fields"), "event.frames, event.stream");
}

TEST(Import, MemoryFromBeforeTheHistoryIsNoMemoryWhoseStacksWereOff) {
    Json earlier = block(base, 512, "active_allocated"), later = block(base + 512, 512, "active_allocated");
    earlier["frames"] = later["frames"] = Json::array();
    const Json all = segment(base, Json::array({earlier, later, block(base + 1024, 2 * mib - 1024, "inactive")}));
    const auto with =
        import({{"segments", {all}}, {"device_traces", Json::array({Json::array({event("alloc", base + 512, 500)})})}});
    const DataGap* stacks = gap_of(*with, DataGapReason::no_stacks);
    ASSERT_NE(stacks, nullptr);
    EXPECT_EQ(stacks->count, 2);
    EXPECT_EQ(stacks->number("earlier"), 1);
    EXPECT_EQ(stacks->number("earlier_bytes"), 500);
    const Words words(Language::english);
    EXPECT_EQ(
        data_gap_words(words, *stacks),
        "Allocations from before the history have no stack: 1 with 500 B. 1 of 1 allocations (100 % of the bytes) "
        "have no stack: PyTorch records none for memory allocated on the backward thread, or stacks were off.");
    EXPECT_TRUE(data_gap_words(words, *gap_of(*with, DataGapReason::late_start)).starts_with("The history does not"));
    const auto without = import({{"segments", {all}}, {"device_traces", Json::array({Json::array()})}});
    EXPECT_TRUE(data_gap_words(words, *gap_of(*without, DataGapReason::late_start))
                    .starts_with("The snapshot has no history of allocations"));
}

/// Events at these times, in µs after a day of 2025; nothing for an event without a time.
std::shared_ptr<Trace> import_times(const std::vector<std::optional<int64_t>>& times) {
    constexpr int64_t day = 1'763'800'000'000'000;
    Json events = Json::array();
    for (size_t i = 0; i < times.size(); ++i) {
        Json one = event("alloc", base + i * mib, 512);
        one["time_us"] = times[i] ? Json(day + *times[i]) : Json();
        if (!times[i]) {
            one.erase("time_us");
        }
        events.push_back(one);
    }
    return import(traces_only(events));
}

TEST(Import, AbsurdTimesAreThoseOfTheEventBefore) {
    constexpr int64_t day = 1'763'800'000'000'000, year = 365ll * 24 * 3600 * 1'000'000;
    const auto trace = import_times({-day, 5, 8, -day, 3 * year, std::nullopt, 9});
    EXPECT_EQ(trace->devices.at(0).event_time, (std::vector<int64_t>{0, 0, 3000, 3000, 3000, 3000, 4000}));
    EXPECT_EQ(trace->duration, 4000);
    EXPECT_EQ(trace->start_utc_ns, (day + 5) * 1000);
    const DataGap* gap = gap_of(*trace, DataGapReason::clock_error);
    ASSERT_NE(gap, nullptr);
    EXPECT_EQ(gap->count, 4);
    EXPECT_EQ(gap_of(*trace, DataGapReason::no_times), nullptr);
}

TEST(Import, TimesThatRunBackwardsALittleStayInOrder) {
    const auto trace = import_times({10, 8, 12});
    EXPECT_EQ(trace->devices.at(0).event_time, (std::vector<int64_t>{0, 0, 2000}));
    EXPECT_EQ(gap_of(*trace, DataGapReason::clock_error), nullptr);
}

TEST(Import, BlocksOfTheFinalStateGiveTheirStacksToAllocationsWithout) {
    Json final = segment(base, Json::array({block(base, 512, "active_allocated"), block(base + 512, 512, "inactive")}));
    const auto trace = import({{"segments", {final}},
                               {"device_traces",
                                {Json::array({event("segment_alloc", base, 2 * mib), event("alloc", base, 500),
                                              event("alloc", base + 512, 500), event("free_requested", base + 512, 500),
                                              event("free_completed", base + 512, 500)})}}});
    const Allocations& all = trace->devices.at(0).allocations;
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(describe_frame(trace->stacks, trace->stacks.site(all.stack[0])), "net.py:12 forward");
    EXPECT_EQ(all.stack[1], 0u) << "freed before the final state";
}

TEST(Import, MemoryThatWasMappedAtOnceAndReturnedInPartsDidNotExistBefore) {
    const auto part = [](uint64_t address) {
        Json piece = segment(address, Json::array({block(address, 2 * mib, "inactive")}));
        piece["is_expandable"] = true;
        return piece;
    };
    const auto trace = import({{"segments", {part(base), part(base + 4 * mib)}},
                               {"device_traces",
                                {Json::array({event("segment_map", base, 6 * mib), event("alloc", base, 512),
                                              event("free_requested", base, 512), event("free_completed", base, 512),
                                              event("segment_unmap", base + 2 * mib, 2 * mib)})}}});
    const DeviceHistory& device = trace->devices.at(0);
    EXPECT_FALSE(device.truncated);
    EXPECT_EQ(device.segments.at(0).alloc_event, 0);
    EXPECT_EQ(gap_of(*trace, DataGapReason::contradicting_events), nullptr);
}

/// What a version of PyTorch writes in addition to what all write.
struct Version {
    const char* name;
    std::vector<std::pair<const char*, Json>> of_top, of_segment, of_block, of_event;
    bool has_block_addresses = true;
};

std::ostream& operator<<(std::ostream& out, const Version& version) { return out << version.name; }

void add_all(Json& to, const std::vector<std::pair<const char*, Json>>& fields) {
    for (const auto& [key, value] : fields) {
        to[key] = value;
    }
}

std::vector<Version> versions() {
    using Fields = std::vector<std::pair<const char*, Json>>;
    const Json stack = Json::array({frame("forward", "net.py", 12)});
    const Json latest{{"addr", base}, {"real_size", 500}, {"frames", stack}};
    const Fields old_block{{"history", Json::array({latest})}};
    const Fields framed{{"frames", stack}};
    const Fields segment_of_2{{"segment_pool_id", tuple({0, 0})}, {"is_expandable", false}, {"frames", Json::array()}};
    const Fields settings{{"allocator_settings", {{"expandable_segments", false}, {"max_split_size", -1}}}};
    const Json annotation{{"stage", "START"}, {"name", "step"}, {"device", 0}, {"time_us", 1'763'800'000'000'000}};
    Fields annotated = settings, timed = framed;
    annotated.emplace_back("external_annotations", Json::array({annotation}));
    timed.emplace_back("time_us", 1'763'800'000'000'000);
    Fields compiled = timed;
    compiled.emplace_back("compile_context", "N/A");
    Fields described = compiled;
    described.emplace_back("user_metadata", "step 3");
    Fields pooled = described;
    pooled.emplace_back("pool_id", tuple({0, 0}));
    pooled.emplace_back("internal_metadata", "mallocWithAddress");
    Fields hosted = annotated;
    hosted.emplace_back("host_segments", Json::array());
    hosted.emplace_back("host_traces", Json::array({Json::array({event("alloc", base, 64)})}));
    return {{"1.13", {}, {}, old_block, {}, false},
            {"2.0", {}, segment_of_2, framed, framed},
            {"2.1", {}, segment_of_2, framed, timed},
            {"2.2", settings, segment_of_2, framed, timed},
            {"2.4", annotated, segment_of_2, framed, timed},
            {"2.6", annotated, segment_of_2, framed, compiled},
            {"2.8", annotated, segment_of_2, framed, described},
            {"2.12", annotated, segment_of_2, framed, pooled},
            {"2.15", hosted, segment_of_2, framed, pooled}};
}

Json snapshot_of(const Version& version) {
    Json block{{"size", 512}, {"requested_size", 500}, {"state", "active_allocated"}};
    if (version.has_block_addresses) {
        block["address"] = base;
    }
    add_all(block, version.of_block);
    Json segment{{"device", 0},           {"address", base},         {"total_size", 2 * mib},
                 {"allocated_size", 512}, {"active_size", 512},      {"requested_size", 500},
                 {"stream", 0},           {"segment_type", "small"}, {"blocks", Json::array({block})}};
    add_all(segment, version.of_segment);
    Json arrival{{"action", "segment_alloc"}, {"addr", base}, {"size", 2 * mib}, {"stream", 0}};
    Json alloc{{"action", "alloc"}, {"addr", base}, {"size", 500}, {"stream", 0}};
    add_all(arrival, version.of_event);
    add_all(alloc, version.of_event);
    Json all{{"segments", Json::array({segment})}, {"device_traces", Json::array({Json::array({arrival, alloc})})}};
    add_all(all, version.of_top);
    return all;
}

class ImportVersions : public testing::TestWithParam<Version> {};
INSTANTIATE_TEST_SUITE_P(All, ImportVersions, testing::ValuesIn(versions()));

TEST_P(ImportVersions, AreReadCompletely) {
    const auto trace = import(snapshot_of(GetParam()));
    ASSERT_EQ(trace->devices.size(), 1u);
    const Allocations& allocations = trace->devices[0].allocations;
    ASSERT_EQ(allocations.size(), 1u);
    EXPECT_EQ(allocations.requested[0], 500u);
    EXPECT_EQ(describe_frame(trace->stacks, trace->stacks.site(allocations.stack[0])), "net.py:12 forward");
    EXPECT_EQ(gap_of(*trace, DataGapReason::damaged_fields), nullptr);
    EXPECT_EQ(gap_of(*trace, DataGapReason::contradicting_events), nullptr);
}

using Sites = std::map<std::string, uint64_t>;

/// Returns the bytes of the blocks that are alive at the end of a recorded snapshot, by site, on device 0.
Sites sites_at_end(const std::string& name) {
    Progress progress;
    const auto trace = read_snapshot_trace(data_file(name), progress);
    EXPECT_TRUE(trace);
    const DeviceHistory& device = (*trace)->devices.at(0);
    Sites sites;
    for (AllocationIndex a = 0; a < device.allocations.size(); ++a) {
        if (device.allocations.free_completed[a] == never) {
            sites[group_name(**trace, device, a, GroupBy::line)] += device.allocations.block_size[a];
        }
    }
    return sites;
}

// Recorded with PyTorch 2.11 and its default, stacks="all". The 32 MiB are the workspace of cuBLAS, which the backward
// pass created on a thread without Python.
TEST(Import, SitesOfPyTorchsDefaultStacksAreNoPlumbing) {
    const Sites eager{{"AddmmBackward0::apply", 33'554'432},
                      {"train.py:9 model", 800'256},
                      {"train.py:14 train_step", 34'603'008},
                      {"train.py:15 train_step", 1'600'512}};
    EXPECT_EQ(sites_at_end("stacks_all.pickle.xz"), eager);
    EXPECT_EQ(sites_at_end("context_state.pickle.xz"), eager) << "only the final blocks have stacks";
    const Sites two{{"MmBackward0::apply", 34'603'008}, {"train.py:117 _", 34'603'008}};
    EXPECT_EQ(sites_at_end("stacks_all_two_gpus.pickle.xz"), two);
}

TEST(Import, SitesOfCompiledProgramsAreTheUsersOrTheGeneratedCode) {
    const Sites sites = sites_at_end("stacks_all_compiled.pickle.xz");
    EXPECT_EQ(sites.size(), 4u);
    EXPECT_EQ(sites.at("train.py:14 train_step"), 34'603'008u);
    EXPECT_EQ(sites.at("cmtpxyxdtaxnc2woaklmjwxyqnlyq6hjtvpjsmi3negesbdgkw6t.py:176 call"), 33'554'432u);
}

}  // namespace
}  // namespace tidemark
