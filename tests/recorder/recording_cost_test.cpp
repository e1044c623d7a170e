// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The recorder measures what it costs the program's threads.
#include <gtest/gtest.h>

#include "recorder/core/callback_cost.h"
#include "storage/read/read_costs.h"
#include "tests/recorder/recording_fixture.h"

namespace tidemark::test {
namespace {

using recorder::CallbackCost;

constexpr int64_t us = 1000, ms = 1000 * us, second = 1000 * ms;

void work_for(int64_t ns) {
    const int64_t end = recorder::monotonic_ns() + ns;
    while (recorder::monotonic_ns() < end) {
    }
}

TEST(CallbackCost, SomeCallbacksStandForAll) {
    CallbackCost cost;
    const int64_t begin = recorder::monotonic_ns();
    for (int i = 0; i < 2000; ++i) {
        cost.enter();
        work_for(20 * us);
        cost.leave();
    }
    const auto elapsed = static_cast<uint64_t>(recorder::monotonic_ns() - begin);
    ASSERT_TRUE(cost.has_cost());
    const tidemark_record record = cost.take();
    EXPECT_EQ(TIDEMARK_COST, record.kind);
    EXPECT_EQ(TIDEMARK_COST_CALLBACKS, record.detail);
    EXPECT_EQ(2000u, record.cost.count);
    EXPECT_GE(record.cost.duration_ns, 40u * 1000 * 1000) << "20 us each";
    EXPECT_LE(record.cost.duration_ns, 4 * elapsed);
    EXPECT_GE(record.cost.longest_ns, 20u * 1000);
    EXPECT_FALSE(cost.has_cost()) << "the record has all of it";
}

TEST(CallbackCost, ARareLongCallbackStandsForNoOther) {
    CallbackCost cost;
    for (int i = 1; i <= 310; ++i) {
        cost.enter();
        work_for(i == 31 ? 30 * ms : 0);  // the first one that is measured
        cost.leave();
    }
    const tidemark_record record = cost.take();
    EXPECT_GE(record.cost.duration_ns, 30u * 1000 * 1000);
    EXPECT_LT(record.cost.duration_ns, 200u * 1000 * 1000);
    EXPECT_GE(record.cost.longest_ns, 30u * 1000 * 1000);
}

TEST(CallbackCost, ACallbackInsideAnotherCountsOnce) {
    CallbackCost cost(1);
    for (int i = 0; i < 10; ++i) {
        cost.enter();
        cost.enter();
        cost.leave();
        cost.leave();
    }
    EXPECT_EQ(10u, cost.take().cost.count);
}

TEST(CallbackCost, IsUnknownWithoutAMeasurement) {
    CallbackCost cost;
    for (int i = 0; i < 20; ++i) {
        cost.enter();
        cost.leave();
    }
    EXPECT_FALSE(cost.has_cost());
}

tidemark_record cost_record(int kind, int64_t duration, int64_t longest, uint64_t count) {
    tidemark_record record = record_of(TIDEMARK_COST, kind);
    record.cost.duration_ns = static_cast<uint64_t>(duration);
    record.cost.longest_ns = static_cast<uint64_t>(longest);
    record.cost.count = count;
    return record;
}

std::vector<RecordingCost> costs_of(const Trace& trace) {
    Progress progress;
    const auto costs = read_recording_costs(trace, progress);
    EXPECT_TRUE(costs) << costs.error().sentence.english();
    return costs ? *costs : std::vector<RecordingCost>();
}

TEST_F(Recording, WritesItsCostByThreadAndKind) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100), worker(program, 2, 200);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    allocator.allocate(main, 1000);
    work_for(100 * ms);
    main.push(cost_record(TIDEMARK_COST_CALLBACKS, 3 * ms, 20 * us, 900));
    main.push(cost_record(TIDEMARK_COST_CALLBACKS, 2 * ms, 50 * us, 600));
    main.push(cost_record(TIDEMARK_COST_PAUSE, 4 * ms, 3 * ms, 2));
    worker.push(cost_record(TIDEMARK_COST_CALLBACKS, 1 * ms, 10 * us, 300));
    worker.push(cost_record(TIDEMARK_COST_WAIT, 6 * ms, 6 * ms, 1));
    tidemark_record scan = record_of(TIDEMARK_HEAP_SCAN);
    scan.heap_scan.duration_ns = 38 * ms;
    scan.heap_scan.longest_ns = 21 * ms;
    main.push(scan, "asked", 5);
    main.push(cost_record(77, 9 * ms, 9 * ms, 1));
    main.end(TIDEMARK_END_EXITED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    using Rows = std::vector<std::string>;
    EXPECT_EQ((Rows{"100|callbacks|1500|5000000|50000", "100|heap scan|1|38000000|21000000",
                    "100|pause|2|4000000|3000000", "200|callbacks|300|1000000|10000", "200|wait|1|6000000|6000000"}),
              rows("SELECT thread, kind, sum(count), sum(duration), max(longest) FROM recording_cost "
                   "GROUP BY thread, kind ORDER BY thread, kind"));
    EXPECT_EQ(Rows{},
              rows("SELECT * FROM recording_cost WHERE start_time > end_time OR duration > end_time - start_time"));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    const auto summary = summarize(costs_of(*trace), trace->duration);
    ASSERT_TRUE(summary);
    EXPECT_EQ(21 * ms, summary->longest_pause);
    EXPECT_EQ((38 + 5 + 4) * ms, summary->duration)
        << "a scan stops all threads; `main` was stopped more than `worker`";
    EXPECT_DOUBLE_EQ(static_cast<double>(summary->duration) / static_cast<double>(trace->duration), summary->of_time);
}

TEST_F(Recording, NoThreadSpendsMoreTimeThanHasPassed) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    allocator.allocate(main, 1000);
    for (int i = 0; i < 10; ++i) {
        main.push(cost_record(TIDEMARK_COST_CALLBACKS, INT64_MAX, -1, UINT64_MAX));
        main.push(cost_record(TIDEMARK_COST_PAUSE, 3600 * second, 3600 * second, 0));
    }
    main.end(TIDEMARK_END_EXITED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    const auto summary = summarize(costs_of(*trace), trace->duration);
    ASSERT_TRUE(summary);
    EXPECT_LE(summary->of_time, 1);
    EXPECT_LT(summary->longest_pause, 60 * second);
    EXPECT_EQ(std::vector<std::string>{"callbacks"}, rows("SELECT DISTINCT kind FROM recording_cost"));
}

TEST_F(Recording, TheCostIsUnknownIfNothingMeasuredIt) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid()));
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    allocator.allocate(main, 1000);
    main.end(TIDEMARK_END_EXITED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished));
    const auto trace = opened();
    ASSERT_TRUE(trace);
    EXPECT_FALSE(summarize(costs_of(*trace), trace->duration));
}

}  // namespace
}  // namespace tidemark::test
