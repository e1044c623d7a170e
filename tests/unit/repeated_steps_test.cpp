// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Steps whose events were not written: their peaks in curves, their rows in the file and in excerpts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "storage/export/excerpt.h"
#include "storage/read/open_trace.h"
#include "storage/sqlite/sqlite.h"
#include "storage/timeline/curves.h"
#include "storage/trace/packed_counters.h"
#include "storage/write/trace_writer.h"
#include "tests/unit/run_builder.h"

namespace tidemark {
namespace {

constexpr int64_t MiB = 1 << 20, millisecond = 1'000'000;

RepeatedSteps repeated(EventNumber event, EventNumber after, int64_t start, int64_t end, int64_t peak) {
    RepeatedSteps steps;
    steps.event = event;
    steps.after = after;
    steps.start = start;
    steps.end = end;
    steps.like = start;
    steps.count = 7;
    steps.events_left_out = 700;
    steps.peak_allocated = steps.peak_active = steps.peak_requested = peak;
    return steps;
}

/// Returns 1,000 events: 10 MiB that stay, and pairs of an alloc and a free of 1 MiB. Steps of 90 and 50 MiB repeat in
/// the states 501 and 901.
test::RunBuilder a_run() {
    test::RunBuilder run;
    run.segment(1 << 30);
    run.alloc(10 * MiB);
    while (run.device().event_count() < 1000) {
        run.free(run.alloc(MiB));
    }
    run.device().repeats = {repeated(501, 501, 500 * millisecond, 500 * millisecond + 900, 90 * MiB),
                            repeated(901, 901, 900 * millisecond, 900 * millisecond + 900, 50 * MiB)};
    return run;
}

TEST(RepeatedSteps, CurvesIncludeTheirPeaks) {
    const test::RunBuilder run = a_run();
    const Curves curves(run.trace.devices[0]);
    const auto highest = [&](EventNumber first, EventNumber last) {
        return curves.extremes(Series::allocated, first, last).max / MiB;
    };
    EXPECT_EQ(curves.peak(Series::allocated).max, 90 * MiB);
    EXPECT_EQ(curves.peak(Series::allocated).max_of_states, 11 * MiB);
    EXPECT_LT(curves.peak(Series::allocated).max_event, 10) << "the earliest state with 11 MiB";
    EXPECT_EQ(curves.peak(Series::reserved).max, 1 << 30);
    EXPECT_EQ(highest(501, 501), 90);
    EXPECT_EQ(highest(400, 501), 11) << "the steps follow the last state";
    EXPECT_EQ(highest(501, 502), 90);
    EXPECT_EQ(highest(502, 901), 11);
    EXPECT_EQ(highest(502, 1000), 50);
    EXPECT_EQ(curves.value(Series::allocated, 501) / MiB, curves.value(Series::allocated, 498) / MiB);
}

TEST(RepeatedSteps, CurvesFindThePeaksOfManyRows) {
    test::RunBuilder run = a_run();
    run.device().repeats.clear();
    for (EventNumber n = 0; n <= 1000; ++n) {
        run.device().repeats.push_back(repeated(n, n, 0, 0, (n % 389 + 20) * MiB));
    }
    const Curves curves(run.trace.devices[0]);
    for (const auto& [first, last] :
         {std::pair(0, 1000), std::pair(3, 250), std::pair(200, 600), std::pair(255, 513)}) {
        int64_t expected = 0;
        for (EventNumber n = first; n < last + (last == 1000 ? 1 : 0); ++n) {
            expected = std::max(expected, (n % 389 + 20) * MiB);
        }
        EXPECT_EQ(curves.extremes(Series::active, first, last).max, expected) << first;
    }
}

TEST(RepeatedSteps, AreFoundByTime) {
    const test::RunBuilder run = a_run();
    const DeviceHistory& device = run.trace.devices[0];
    EXPECT_EQ(device.repeated_at(499 * millisecond), nullptr);
    EXPECT_EQ(device.repeated_at(500 * millisecond), nullptr) << "the end of the step before";
    EXPECT_EQ(device.repeated_at(500 * millisecond + 1), &device.repeats[0]);
    EXPECT_EQ(device.repeated_at(900 * millisecond + 900), &device.repeats[1]);
    EXPECT_EQ(device.repeated_at(950 * millisecond), nullptr);
}

TEST(RepeatedSteps, AreWrittenAndRead) {
    test::RunBuilder run = a_run();
    run.device().repeats[1].after = 905;
    run.device().repeats[1].counters = packed_counters(std::vector<int64_t>{1, 2, int64_t{1} << 40, -2});
    const std::string path =
        (std::filesystem::temp_directory_path() / ("repeated_" + std::to_string(::getpid()) + ".tide")).string();
    Progress progress;
    ASSERT_TRUE(write_trace(run.trace, peak_events(run.trace), path, IfExists::replace, progress));
    const auto read = open_trace(path, progress);
    std::filesystem::remove(path);
    ASSERT_TRUE(read) << read.error().sentence.english();
    const auto &written = run.trace.devices[0].repeats, &found = (*read)->devices.at(0).repeats;
    ASSERT_EQ(found.size(), 2u);
    for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(std::tuple(found[i].event, found[i].after, found[i].start, found[i].end, found[i].like),
                  std::tuple(written[i].event, written[i].after, written[i].start, written[i].end, written[i].like));
        EXPECT_EQ(std::tuple(found[i].count, found[i].events_left_out, found[i].peak_allocated, found[i].peak_active,
                             found[i].peak_requested, found[i].counters),
                  std::tuple(written[i].count, written[i].events_left_out, written[i].peak_allocated,
                             written[i].peak_active, written[i].peak_requested, written[i].counters));
    }
}

/// A file of a_run(), changed with SQL.
class DeletedDetails : public testing::Test {
protected:
    void SetUp() override {
        path_ = (std::filesystem::temp_directory_path() / ("deleted_" + std::to_string(::getpid()) + ".tide")).string();
        test::RunBuilder run = a_run();
        run.device().repeats.clear();
        run.trace.marks = {{"mark", 600 * millisecond, std::nullopt, {{0, 600}}}};
        Progress progress;
        ASSERT_TRUE(write_trace(run.trace, peak_events(run.trace), path_, IfExists::replace, progress));
        change("DELETE FROM seal; DELETE FROM table_checksum");
    }
    void TearDown() override { std::filesystem::remove(path_); }

    void change(const std::string& sql) {
        auto connection = Connection::open(path_, OpenMode::create);
        ASSERT_TRUE(connection);
        const Status changed = connection->execute(sql.c_str());
        ASSERT_TRUE(changed) << changed.error().sentence.english();
    }
    /// Deletes what lived within the events [100, 400), except one allocation.
    void delete_details() {
        change(
            "DELETE FROM allocation WHERE id>=100 AND id<400 AND id+free_after+free_completed_after<400 AND id<>200;"
            "INSERT INTO repeated_steps VALUES(1, 0, 100, 300, 99000000, 399000000, NULL, 1, 300, 94371840, 94371840, "
            "94371840, NULL)");
    }
    Result<std::shared_ptr<const Trace>> read() {
        Progress progress;
        return open_trace(path_, progress);
    }

    std::string path_;
};

TEST_F(DeletedDetails, ASummaryCountsTheOtherSteps) {
    delete_details();
    for (const bool has_others : {false, true}) {
        if (has_others) {
            change(
                "INSERT INTO repeated_steps VALUES(2, 0, 500, 0, 500000000, 500000900, 500000000, 7, 700, 99000000,"
                " 99000000, 99000000, NULL), (3, 0, 600, 0, 600000000, 600000900, 500000000, 3, 300, 5, 5, 5, NULL);"
                "INSERT INTO step VALUES(1, 0, 'user', 0, 10), (2, 1, 'user', 10, 20)");
        }
        Progress progress;
        const auto whole = read();
        const auto summary = open_summary(path_, progress);
        ASSERT_TRUE(whole && summary);
        EXPECT_EQ(summary->steps, has_others ? 2 : 0);
        EXPECT_TRUE(summary->trace->steps.empty());
        ASSERT_EQ(summary->repeats.size(), 1u);
        EXPECT_EQ(summary->repeats[0].steps, has_others ? 10 : 0);
        EXPECT_EQ(summary->repeats[0].peak_allocated, has_others ? 99000000 : 94371840);
        const DeviceHistory &all = (*whole)->devices[0], &device = summary->trace->devices.at(0);
        EXPECT_EQ(device.event_count(), all.event_count());
        ASSERT_EQ(device.repeats.size(), 1u);
        EXPECT_TRUE(device.repeats[0].are_details_deleted());
        EXPECT_EQ(summary->trace->data_gaps.size(), (*whole)->data_gaps.size());
    }
}

TEST_F(DeletedDetails, LeaveNoGapInTheNumbers) {
    const auto whole = read();
    ASSERT_TRUE(whole);
    const EventNumber events = (*whole)->devices[0].event_count();
    const int64_t at_end = Curves((*whole)->devices[0]).value(Series::active, events);
    for (const char* chunks : {"", "DELETE FROM allocation_chunk"}) {
        delete_details();
        change(chunks);
        const auto trace = read();
        ASSERT_TRUE(trace) << trace.error().sentence.english();
        const DeviceHistory& device = (*trace)->devices.at(0);
        const Allocations& a = device.allocations;
        ASSERT_EQ(device.repeats.size(), 1u);
        const RepeatedSteps& steps = device.repeats[0];
        EXPECT_TRUE(steps.are_details_deleted());
        EXPECT_EQ(steps.event, 100);
        EXPECT_EQ(device.event_count(), events - 300 + steps.after - steps.event);
        EXPECT_LE(steps.after - steps.event, 6) << "one allocation, and those that end or begin at the borders";
        EXPECT_TRUE(std::is_sorted(device.event_time.begin(), device.event_time.end()));
        EXPECT_EQ(device.event_time[static_cast<size_t>(steps.after)], 400 * millisecond);
        EXPECT_EQ(device.events_until(399 * millisecond), steps.after);
        for (AllocationIndex i = 0; i < a.size(); ++i) {
            EXPECT_EQ(device.find_allocation(device.allocation_id(i)), i);
            EXPECT_EQ(device.event_ref[static_cast<size_t>(a.alloc_event[i])].index(), i);
        }
        EXPECT_EQ((*trace)->marks.at(0).events.at(0), 300 + steps.after - steps.event);
        EXPECT_EQ(Curves(device).value(Series::active, device.event_count()), at_end);
        EXPECT_EQ(Curves(device).peak(Series::allocated).max, 90 * MiB);
        int64_t deleted = 0, others = 0;
        for (const DataGap& gap : (*trace)->data_gaps) {
            (gap.reason == DataGapReason::details_deleted ? deleted : others) += gap.count;
        }
        EXPECT_EQ(deleted, 1);
        TearDown();
        SetUp();
    }
}

TEST_F(DeletedDetails, ForgedRowsAreRefused) {
    const char* const row = "INSERT INTO repeated_steps VALUES(%s, NULL, %s, 0, 0, 0, 0, x'ffffffffff')";
    for (const auto& [place, count] :
         {std::pair("1, 0, 900, 200, 1, 2", "1"), std::pair("1, 0, -1, 5, 1, 2", "1"),
          std::pair("1, 0, 5, -1, 1, 2", "1"), std::pair("1, 0, 4611686018427387904, 4611686018427387904, 1, 2", "1"),
          std::pair("1, 0, 5, 10, 2, 1", "1"), std::pair("1, 0, 5, 10, 1, 2", "-1"),
          std::pair("1, 0, 5, 10, 1, 2, NULL, 1, 0, 0, 0, 0, NULL), (2, 0, 10, 10, 3, 4", "1")}) {
        char sql[512];
        std::snprintf(sql, sizeof sql, row, place, count);
        change(sql);
        EXPECT_FALSE(read()) << place;
        change("DELETE FROM repeated_steps");
        ASSERT_TRUE(read());
    }
}

TEST(RepeatedSteps, AnExcerptHasThoseWithinIt) {
    const test::RunBuilder run = a_run();
    const Trace part = excerpt(run.trace, {{{0, {601, 1000}}}, 600 * millisecond, 999 * millisecond});
    const auto& repeats = part.devices.at(0).repeats;
    ASSERT_EQ(repeats.size(), 1u);
    EXPECT_EQ(repeats[0].event, 300);
    EXPECT_EQ(repeats[0].start, 300 * millisecond);
    EXPECT_EQ(Curves(part.devices[0]).peak(Series::allocated).max, 50 * MiB);
}

}  // namespace
}  // namespace tidemark
