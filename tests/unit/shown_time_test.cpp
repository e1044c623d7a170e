// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/shown_time.h"

#include <gtest/gtest.h>

#include "tests/unit/run_builder.h"

namespace tidemark {
namespace {

constexpr uint64_t MiB = uint64_t{1} << 20;
constexpr int64_t second = 1'000'000'000;

/// Returns a run that loads a model at the begin. After a minute without events, it allocates and frees 2 MiB 100
/// times.
test::RunBuilder run_with_late_burst(uint64_t model = MiB) {
    test::RunBuilder run;
    run.segment(64 * MiB);
    run.free(run.alloc(model));
    const size_t before = run.device().event_time.size();
    for (int i = 0; i < 100; ++i) {
        run.free(run.alloc(2 * MiB));
    }
    for (size_t i = before; i < run.device().event_time.size(); ++i) {
        run.device().event_time[i] += 60 * second;
    }
    run.trace.duration = run.device().event_time.back();
    return run;
}

TEST(ShownTime, BeginsWithTheBusyPart) {
    test::RunBuilder run = run_with_late_burst();
    const Curves curves(run.device());
    const ShownTime whole = used_time(run.trace, run.device(), run.trace.duration),
                    busy = busy_time(run.trace, run.device(), curves, run.trace.duration);
    EXPECT_EQ(whole.start, 0);
    EXPECT_FALSE(whole.is_part);
    EXPECT_TRUE(busy.is_part);
    EXPECT_GT(busy.start, 59 * second);
    EXPECT_EQ(busy.end, whole.end);
}

TEST(ShownTime, LeavesOutMemoryThatIsTooLittleToBeSeen) {
    test::RunBuilder run;
    run.segment(MiB);
    for (int i = 0; i < 10; ++i) {
        run.alloc(512);
    }
    const size_t before = run.device().event_time.size();
    run.segment(64 * MiB);
    for (int i = 0; i < 10; ++i) {
        run.free(run.alloc(60 * MiB));
    }
    for (size_t i = before; i < run.device().event_time.size(); ++i) {
        run.device().event_time[i] += 60 * second;
    }
    run.trace.duration = run.device().event_time.back();
    const ShownTime busy = busy_time(run.trace, run.device(), Curves(run.device()), run.trace.duration);
    EXPECT_TRUE(busy.is_part);
    EXPECT_GT(busy.start, 59 * second);
}

TEST(ShownTime, ContainsThePeak) {
    test::RunBuilder run = run_with_late_burst(32 * MiB);
    EXPECT_FALSE(busy_time(run.trace, run.device(), Curves(run.device()), run.trace.duration).is_part);
}

TEST(ShownTime, ContainsTheLastError) {
    test::RunBuilder run = run_with_late_burst();
    run.out_of_memory(MiB, 0, 0);
    run.device().event_time.back() = 300 * second;
    EXPECT_EQ(busy_time(run.trace, run.device(), Curves(run.device()), 300 * second).end, 300 * second);
}

TEST(ShownTime, KeepsLaterMemoryOutsideTheAllocator) {
    test::RunBuilder run;
    run.segment(64 * MiB);
    run.free(run.alloc(MiB));
    const int64_t end = 600 * second;
    EXPECT_TRUE(busy_time(run.trace, run.device(), Curves(run.device()), end).is_part);
    run.trace.driver_allocations.emplace_back().time = 500 * second;
    EXPECT_FALSE(busy_time(run.trace, run.device(), Curves(run.device()), end).is_part);
}

}  // namespace
}  // namespace tidemark
