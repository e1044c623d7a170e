// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Damage is detected: by the seal, by checksums, and by comparing rows with each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "storage/import/import.h"
#include "storage/read/open_trace.h"
#include "storage/read/read_graph.h"
#include "storage/timeline/curves.h"
#include "storage/trace/limits.h"
#include "storage/write/trace_writer.h"
#include "tests/unit/change_trace.h"
#include "tests/unit/recorded_rows.h"
#include "tests/unit/small_graph.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/trace_equality.h"

namespace tidemark {
namespace {

class TraceIntegrity : public testing::Test {
protected:
    void SetUp() override {
        Progress progress;
        auto imported = read_snapshot_trace(std::string(TIDEMARK_TEST_DATA) + "/snapshots/streams.pickle", progress);
        ASSERT_TRUE(imported) << imported.error().sentence.english();
        original_ = *imported;
        const GraphTables graph = test::small_graph(*original_);
        const Trace recorded = test::recorded(*original_);
        ASSERT_TRUE(write_trace(recorded, peak_events(recorded), path_, IfExists::replace, progress, &graph));
    }

    Result<std::shared_ptr<const Trace>> open() const {
        Progress progress;
        return open_trace(path_, progress);
    }

    void alter(const char* sql) const { test::change_trace(path_, sql); }
    void forge(const char* sql) const { test::forge_trace(path_, sql); }
    int64_t count(DataGapReason reason) const {
        const auto trace = open();
        EXPECT_TRUE(trace) << trace.error().sentence.english();
        return trace ? test::count_gaps((*trace)->data_gaps, reason) : -1;
    }
    std::vector<DataGap> check() const {
        Progress progress;
        const auto found = check_trace(path_, progress);
        EXPECT_TRUE(found) << found.error().sentence.english();
        return found ? *found : std::vector<DataGap>();
    }

    test::TemporaryFolder folder_;
    std::string path_ = folder_ / "run.tide";
    std::shared_ptr<const Trace> original_;
};

TEST_F(TraceIntegrity, AWrittenTraceIsIntact) {
    const auto trace = open();
    ASSERT_TRUE(trace) << trace.error().sentence.english();
    EXPECT_EQ(Integrity::intact, (*trace)->integrity);
    EXPECT_EQ(test::recorded(*original_).data_gaps.size(), (*trace)->data_gaps.size());
    EXPECT_TRUE(check().empty());
}

TEST_F(TraceIntegrity, EveryFlippedBitIsDetected) {
    std::ifstream in(path_, std::ios::binary);
    const std::string good((std::istreambuf_iterator<char>(in)), {});
    std::mt19937_64 random(12);
    int opened = 0;
    for (int k = 0; k < 600; ++k) {
        const size_t at = random() % good.size();
        const int bit = static_cast<int>(random() % 8);
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << bad;
        const auto trace = open();
        if (!trace) {
            EXPECT_EQ(ErrorKind::input, trace.error().kind) << "bit " << bit << " of byte " << at;
            continue;
        }
        ++opened;
        const auto& gaps = (*trace)->data_gaps;
        EXPECT_TRUE(
            std::any_of(gaps.begin(), gaps.end(), [](const DataGap& gap) { return gap.kind == DataGapKind::damaged; }))
            << "bit " << bit << " of byte " << at;
    }
    EXPECT_GT(opened, 100) << "most damage leaves a trace that can be read";
}

TEST_F(TraceIntegrity, NamesTheChangedTables) {
    alter("UPDATE string SET text=text || '!' WHERE id=1; DELETE FROM step");
    const auto trace = open();
    ASSERT_TRUE(trace) << trace.error().sentence.english();
    EXPECT_EQ(Integrity::changed, (*trace)->integrity);
    const auto& gaps = (*trace)->data_gaps;
    const auto gap = std::find_if(gaps.begin(), gaps.end(),
                                  [](const DataGap& g) { return g.reason == DataGapReason::tables_changed; });
    ASSERT_NE(gaps.end(), gap);
    EXPECT_EQ("string, step", gap->argument("tables"));
    EXPECT_EQ(2, test::count_gaps(check(), DataGapReason::tables_changed));
}

TEST_F(TraceIntegrity, AChangeOutsideTheTablesIsReported) {
    alter("CREATE INDEX by_address ON allocation(address)");
    EXPECT_EQ(1, count(DataGapReason::bytes_changed));
    EXPECT_EQ(0, count(DataGapReason::tables_changed));
}

TEST_F(TraceIntegrity, OlderFormatsAreNotChecked) {
    Progress progress;
    const auto old = open_trace(std::string(TIDEMARK_TEST_DATA) + "/traces/format-3.tide", progress);
    ASSERT_TRUE(old);
    EXPECT_EQ(Integrity::no_checksums, (*old)->integrity);
}

TEST_F(TraceIntegrity, AnotherVersionNumberDoesNotHideTheSeal) {
    alter("UPDATE string SET text=text || '!' WHERE id=1; PRAGMA user_version=3");
    EXPECT_EQ(Integrity::changed, (*open())->integrity);
    EXPECT_EQ(1, count(DataGapReason::tables_changed));
}

TEST_F(TraceIntegrity, StacksOfAnyDepthAreRefused) {
    forge(
        "INSERT INTO stack WITH RECURSIVE n(id) AS (SELECT 1 + (SELECT max(id) FROM stack) UNION ALL SELECT id + 1 "
        "FROM n WHERE id < 70000) SELECT id, id - 1, 1 FROM n");
    EXPECT_FALSE(open());
}

TEST_F(TraceIntegrity, ChunksOfOneAllocationTwiceAreNotRead) {
    forge(
        "INSERT INTO allocation_chunk SELECT id + 1, device, first + count, count, data FROM allocation_chunk ORDER BY "
        "id DESC LIMIT 1");
    EXPECT_EQ(1, count(DataGapReason::chunks_unreadable));
    test::expect_same_device(original_->main_device(), (*open())->main_device());
}

TEST_F(TraceIntegrity, RowsThatContradictTheirChunksAreReported) {
    forge("UPDATE allocation SET requested=requested+512 WHERE id IN (SELECT id FROM allocation LIMIT 3)");
    EXPECT_EQ(Integrity::intact, (*open())->integrity);
    EXPECT_EQ(3, count(DataGapReason::chunks_differ));
    EXPECT_EQ(3, test::count_gaps(check(), DataGapReason::chunks_differ));
    SetUp();
    forge("DELETE FROM allocation WHERE id=(SELECT min(id) FROM allocation)");
    EXPECT_GE(count(DataGapReason::chunks_differ), 1);
}

TEST_F(TraceIntegrity, RowsReplaceUnreadableChunks) {
    for (const char* sql :
         {"UPDATE allocation_chunk SET count=count+1", "UPDATE allocation_chunk SET count=900000000",
          "UPDATE allocation_chunk SET data=zeroblob(40)", "UPDATE allocation_chunk SET first=first+1"}) {
        SCOPED_TRACE(sql);
        SetUp();
        forge(sql);
        EXPECT_EQ(1, count(DataGapReason::chunks_unreadable));
        test::expect_same_device(original_->main_device(), (*open())->main_device());
    }
}

TEST_F(TraceIntegrity, TwoRowsOfOneEventAreReported) {
    forge(
        "DELETE FROM allocation_chunk;"
        "UPDATE allocation SET free_after=1, free_delay=1, free_completed_after=1 WHERE id=(SELECT min(id) FROM "
        "allocation WHERE free_after > 3)");
    EXPECT_GE(count(DataGapReason::events_described_twice), 1);
}

TEST_F(TraceIntegrity, ImpossibleTimesAreReportedAndLeftOut) {
    const int64_t duration = original_->duration;
    forge(
        "UPDATE segment SET alloc_time=1000000000000000000 WHERE id=(SELECT max(id) FROM segment WHERE alloc_event > "
        "0);"
        "UPDATE step SET end_time=start_time-1 WHERE id=1; UPDATE step SET start_time=-(1<<60), end_time=NULL WHERE "
        "id=2;"
        "UPDATE driver_allocation SET free_time=time-7");
    const auto trace = open();
    ASSERT_TRUE(trace) << trace.error().sentence.english();
    const auto& gaps = (*trace)->data_gaps;
    EXPECT_EQ(2, test::count_gaps(gaps, DataGapReason::times_out_of_range));
    EXPECT_GE(test::count_gaps(gaps, DataGapReason::ends_before_starts), 2);
    EXPECT_EQ(duration, (*trace)->duration);
    for (const Step& step : (*trace)->steps) {
        EXPECT_TRUE(!step.end || *step.end >= step.start);
    }
    for (const DeviceHistory& device : (*trace)->devices) {
        EXPECT_TRUE(std::is_sorted(device.event_time.begin(), device.event_time.end()));
        EXPECT_TRUE(is_time(device.event_time.back()));
    }
}

TEST_F(TraceIntegrity, CyclesOfTheGraphAreReportedAndLeftOut) {
    forge("INSERT OR REPLACE INTO autograd_edge SELECT next_node, 50, node, 0 FROM autograd_edge");
    const auto trace = open();
    ASSERT_TRUE(trace) << trace.error().sentence.english();
    Progress progress;
    const auto graph = read_graph(**trace, progress);
    ASSERT_TRUE(graph) << graph.error().sentence.english();
    EXPECT_GE(test::count_gaps((*graph)->data_gaps, DataGapReason::edges_in_cycles), 1);
    EXPECT_GE(test::count_gaps(check(), DataGapReason::edges_in_cycles), 1);
}

TEST_F(TraceIntegrity, CountsThatTheFileCannotContainAreRefused) {
    for (const char* sql :
         {"UPDATE device SET events=2000000000", "INSERT INTO device(id, events) VALUES(128, 0)",
          "INSERT INTO device(id, events) SELECT value, 100000 FROM (WITH RECURSIVE n(value) AS (SELECT 50 UNION ALL "
          "SELECT value + 1 FROM n WHERE value < 120) SELECT value FROM n)",
          "UPDATE string SET text=hex(zeroblob(100000)) WHERE id=2; INSERT INTO origin SELECT value, 1, 2, 2, 2, 2, 2 "
          "FROM (WITH RECURSIVE n(value) AS (SELECT 1 + (SELECT count(*) FROM origin) UNION ALL SELECT value + 1 FROM "
          "n WHERE value < 400) SELECT value FROM n)"}) {
        SCOPED_TRACE(sql);
        SetUp();
        forge(sql);
        const auto trace = open();
        ASSERT_FALSE(trace);
        EXPECT_EQ(ErrorKind::input, trace.error().kind);
    }
}

}  // namespace
}  // namespace tidemark
