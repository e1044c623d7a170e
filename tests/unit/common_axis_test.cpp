// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/compare/common_axis.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

/// A run with an event each ms from `first` to `last`, without memory.
struct TimedRun {
    Trace trace;

    TimedRun(int64_t first, int64_t last) {
        DeviceHistory device;
        for (int64_t ms = first; ms <= last; ++ms) {
            device.event_time.push_back(ms * 1'000'000);
            device.event_ref.push_back({Action::alloc, 0});
        }
        trace.duration = last * 1'000'000;
        trace.devices.push_back(std::move(device));
    }
    /// Adds a step between two times in ms.
    TimedRun& step(int64_t number, int64_t start, std::optional<int64_t> end, StepSource source = StepSource::user) {
        trace.steps.push_back(
            {number, source, start * 1'000'000, end ? std::optional(*end * 1'000'000) : std::nullopt});
        return *this;
    }
    const DeviceHistory& device() const { return trace.devices.front(); }
};

std::optional<CommonAxis> axis_of(const TimedRun& a, const TimedRun& b) {
    return common_axis(a.trace, a.device(), b.trace, b.device());
}

TEST(CommonAxis, PlacesStepsOfOneNumberAtOnePlace) {
    const auto axis = axis_of(TimedRun(0, 40).step(0, 0, 10).step(1, 10, 30).step(2, 30, 40),
                              TimedRun(0, 100).step(1, 20, 60).step(2, 60, 100));
    ASSERT_TRUE(axis);
    EXPECT_EQ(AxisUnit::steps, axis->unit);
    EXPECT_EQ(20'000'000, axis->a.time_at(1.5));
    EXPECT_EQ(40'000'000, axis->b.time_at(1.5));
    EXPECT_DOUBLE_EQ(1.5, axis->b.place_of(40'000'000));
    EXPECT_DOUBLE_EQ(3, axis->a.last());
}

TEST(CommonAxis, GivesSetUpAndTheRestTheRoomOfStepsOfThatDuration) {
    const TimedRun run = TimedRun(5, 60).step(0, 20, 30).step(1, 30, 40);
    const auto axis = axis_of(run, run);
    ASSERT_TRUE(axis);
    EXPECT_DOUBLE_EQ(-1.5, axis->a.first());
    EXPECT_DOUBLE_EQ(4, axis->a.last());
    const TimedRun long_rest = TimedRun(0, 9000).step(0, 0, 10).step(1, 10, 20);
    EXPECT_DOUBLE_EQ(4, axis_of(long_rest, long_rest)->a.last()) << "no more than all steps";
}

TEST(CommonAxis, EndsARunSoonAfterItsLastStepIfNothingHappensAfterIt) {
    TimedRun run = TimedRun(0, 40).step(0, 0, 20).step(1, 20, 40);
    run.trace.duration = 90'000'000;  // the interpreter exits
    const auto axis = axis_of(run, run);
    EXPECT_DOUBLE_EQ(2.25, axis->a.last());
    EXPECT_EQ(90'000'000, axis->a.end());
}

TEST(CommonAxis, CountsTheStepsOfTheProgramBeforeThoseOfTheOptimizer) {
    const TimedRun both = TimedRun(0, 40)
                              .step(0, 0, 5, StepSource::optimizer)
                              .step(1, 5, 10, StepSource::optimizer)
                              .step(0, 0, 20)
                              .step(1, 20, 40);
    EXPECT_EQ(20'000'000, axis_of(both, both)->a.time_at(1));
}

TEST(CommonAxis, LeavesOutASecondLoopThatCountsAgain) {
    const TimedRun again = TimedRun(0, 60).step(0, 0, 10).step(1, 10, 20).step(0, 20, 40).step(1, 40, 60);
    const auto axis = axis_of(again, again);
    EXPECT_EQ(10'000'000, axis->a.time_at(1));
    EXPECT_EQ(60'000'000, axis->a.end());
}

TEST(CommonAxis, UsesTheTimeSinceTheFirstEventWithoutSharedSteps) {
    const TimedRun steps = TimedRun(100, 140).step(0, 100, 120), none(3, 23), open = TimedRun(0, 5).step(0, 0, {}),
                   resumed = TimedRun(0, 5).step(1000, 0, 2);
    for (const auto& [other, reason] :
         {std::pair(&none, SharedSteps::none_in_b), std::pair(&open, SharedSteps::none_in_b),
          std::pair(&resumed, SharedSteps::other_numbers)}) {
        EXPECT_EQ(reason, shared_steps(steps.trace, other->trace));
        EXPECT_EQ(AxisUnit::time, axis_of(steps, *other)->unit);
    }
    EXPECT_EQ(SharedSteps::none_in_a, shared_steps(none.trace, steps.trace));
    EXPECT_EQ(SharedSteps::none_in_either, shared_steps(none.trace, open.trace));
    const auto axis = axis_of(steps, none);
    EXPECT_EQ(101'000'000, axis->a.time_at(1'000'000));
    EXPECT_EQ(4'000'000, axis->b.time_at(1'000'000));
    EXPECT_FALSE(axis->b.has_place(21'000'000));
}

TEST(CommonAxis, DoesNotExistIfOnlyOneRunHasTimes) {
    const TimedRun timed(0, 10);
    TimedRun counted(0, 10);
    counted.trace.data_gaps.push_back({DataGapKind::unclean_end, 0, 0, 0, 0, DataGapReason::no_times, {}, {}});
    EXPECT_FALSE(axis_of(timed, counted));
    EXPECT_EQ(AxisUnit::events, axis_of(counted, counted)->unit);
}

TEST(CommonAxis, OfOneEventHasOnePlace) {
    const TimedRun one(7, 7);
    const auto axis = axis_of(one, one);
    EXPECT_EQ(7'000'000, axis->a.time_at(0));
    EXPECT_DOUBLE_EQ(0, axis->a.place_of(7'000'000));
    EXPECT_FALSE(axis->a.has_time(8'000'000));
}

TEST(CommonAxis, ComparesTheSameDeviceOrTheOnlyOne) {
    Trace trace;
    trace.devices.resize(1);
    trace.devices[0].device = 3;
    EXPECT_EQ(0u, device_to_compare(trace, 3));
    EXPECT_EQ(0u, device_to_compare(trace, 0)) << "the only one";
    trace.devices.resize(2);
    trace.devices[1].device = 5;
    EXPECT_EQ(1u, device_to_compare(trace, 5));
    EXPECT_FALSE(device_to_compare(trace, 0)) << "the user must select one";
}

}  // namespace
}  // namespace tidemark
