// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which steps wait for their end, so that they can be left out if they repeat a known one.
#include "recorder/daemon/step_collector.h"

#include <gtest/gtest.h>

namespace tidemark::recorder {
namespace {

using std::chrono::seconds;

constexpr int events_of_step = 100;

AllocatorEvent event_of(int i) {
    AllocatorEvent event;
    event.action = i % 2 == 0 ? Action::alloc : Action::free_requested;
    event.size = 512 * static_cast<uint64_t>(i / 2 + 1);
    return event;
}

/// Adds the first events of a step.
void begin_step(StepCollector& steps, int events) {
    for (int i = 0; i < events; ++i) {
        ASSERT_TRUE(steps.add(event_of(i)));
    }
}

/// A program whose steps are known.
StepCollector after_equal_steps(int count) {
    StepCollector steps;
    steps.end_step(0);
    for (int step = 1; step <= count; ++step) {
        begin_step(steps, events_of_step);
        steps.end_step(step);
        steps.take();
    }
    return steps;
}

bool is_overdue_after(const StepCollector& steps, seconds passed) {
    return steps.is_overdue(StepCollector::Clock::now() + passed);
}

TEST(StepCollector, RepeatsMayTakeLong) {
    StepCollector steps = after_equal_steps(30);
    begin_step(steps, 50);
    EXPECT_FALSE(is_overdue_after(steps, seconds(50)));
    EXPECT_TRUE(is_overdue_after(steps, seconds(70)));
    for (int i = 50; i < events_of_step; ++i) {
        steps.add(event_of(i));
    }
    EXPECT_TRUE(steps.end_step(31));
}

TEST(StepCollector, StepsThatDifferAreWrittenSoon) {
    StepCollector steps = after_equal_steps(30);
    begin_step(steps, 50);
    for (int i = 0; i < 16; ++i) {
        steps.add(event_of(7));
    }
    EXPECT_FALSE(is_overdue_after(steps, seconds(1)));
    EXPECT_TRUE(is_overdue_after(steps, seconds(3)));
}

TEST(StepCollector, LongerStepsThanTheKnownOnesAreWrittenSoon) {
    StepCollector steps = after_equal_steps(30);
    begin_step(steps, events_of_step);
    begin_step(steps, 32);
    EXPECT_TRUE(is_overdue_after(steps, seconds(3)));
}

TEST(StepCollector, TheFirstStepsAreWrittenSoon) {
    StepCollector steps = after_equal_steps(5);
    begin_step(steps, 50);
    EXPECT_TRUE(is_overdue_after(steps, seconds(3)));
}

TEST(StepCollector, AStepThatIsRepeatedStaysKnownAmidManyThatAreNot) {
    StepCollector steps = after_equal_steps(30);
    for (int other = 0; other < 50; ++other) {
        begin_step(steps, 50);
        AllocatorEvent event = event_of(0);
        event.size = 1000 + static_cast<uint64_t>(other);
        steps.add(event);
        EXPECT_FALSE(steps.end_step(100 + 2 * other));
        steps.take();
        begin_step(steps, events_of_step);
        EXPECT_TRUE(steps.end_step(101 + 2 * other)) << other;
        steps.take();
    }
}

}  // namespace
}  // namespace tidemark::recorder
