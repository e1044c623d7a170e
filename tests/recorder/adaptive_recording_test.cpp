// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Recordings in which repeated steps are not written: what they say of the run must equal what a full one says.
#include "tests/recorder/adaptive_recording.h"

namespace tidemark::test {
namespace {

TEST_F(AdaptiveRecording, EqualStepsAreCountedAndNotWritten) {
    const auto full = record({}, "full");
    const auto adaptive = record({}, "adaptive");
    ASSERT_TRUE(full && adaptive);
    expect_same(full, adaptive);
    const DeviceHistory& device = adaptive->devices.at(0);
    EXPECT_EQ(repeated_steps(full->devices.at(0)), 0);
    EXPECT_EQ(repeated_steps(device), steps - 20);
    ASSERT_EQ(device.repeats.size(), 1u);
    EXPECT_LT(device.event_count() * 6, full->devices.at(0).event_count());
    const RepeatedSteps& repeats = device.repeats[0];
    EXPECT_EQ(device.repeated_at(repeats.end), &repeats);
    EXPECT_EQ(device.repeated_at(repeats.start), nullptr) << "the step before ends there";
    EXPECT_EQ(repeats.start, adaptive->steps[19].end);
    EXPECT_EQ(repeats.like, adaptive->steps[19].end);
    EXPECT_EQ(repeats.end, adaptive->steps.back().end);
}

TEST_F(AdaptiveRecording, AStepThatDiffersIsWritten) {
    const Loop loop{.other_step = 100, .stops_keeping = 150};
    const auto full = record(loop, "full");
    const auto adaptive = record(loop, "adaptive");
    ASSERT_TRUE(full && adaptive);
    expect_same(full, adaptive);
    const DeviceHistory& device = adaptive->devices.at(0);
    EXPECT_EQ(repeated_steps(device), steps - 20 - 3)
        << "the other step, the one that frees its gradient, and the one without cache";
    EXPECT_EQ(device.repeats.size(), 3u);
    const auto& requested = device.allocations.requested;
    EXPECT_EQ(std::count(requested.begin(), requested.end(), 70 * MiB), 1);
}

TEST_F(AdaptiveRecording, WhatOutlivesItsStepIsWritten) {
    // 1 MiB needs a new segment of the small pool every second time.
    for (const auto& [leak, least] : {std::pair(KiB, 150), std::pair(MiB, 50), std::pair(5 * MiB / 4, 80)}) {
        const Loop loop{.leak = leak};
        const auto full = record(loop, "full");
        const auto adaptive = record(loop, "adaptive");
        ASSERT_TRUE(full && adaptive);
        expect_same(full, adaptive);
        const DeviceHistory& device = adaptive->devices.at(0);
        EXPECT_GT(repeated_steps(device), least) << leak;
        const auto& requested = device.allocations.requested;
        EXPECT_EQ(std::count(requested.begin(), requested.end(), leak), steps) << leak;
    }
}

TEST_F(AdaptiveRecording, AQueueThatIsFullKeepsItsLevel) {
    for (const size_t recent : {size_t{1}, size_t{7}, size_t{18}}) {
        const Loop loop{.recent = recent};
        const auto full = record(loop, "full");
        const auto adaptive = record(loop, "adaptive");
        ASSERT_TRUE(full && adaptive);
        expect_same(full, adaptive);
        EXPECT_GT(repeated_steps(adaptive->devices.at(0)), steps - 60) << recent;
    }
}

TEST_F(AdaptiveRecording, WhatIsLeftKeepsItsLabels) {
    const char* const labels =
        "SELECT a.requested, category, count(*) FROM allocation_category c JOIN allocation a ON a.id = c.allocation "
        "WHERE a.free_after IS NULL GROUP BY 1, 2 ORDER BY 1, 2";
    const Loop loop{.leak = KiB, .is_labeled = true};
    record(loop, "full");
    const std::vector<std::string> expected = rows(labels);
    ASSERT_EQ((std::vector<std::string>{"1024|input|200", "307200|gradient|12"}), expected);
    const auto adaptive = record(loop, "adaptive");
    ASSERT_TRUE(adaptive);
    EXPECT_GT(repeated_steps(adaptive->devices.at(0)), 150);
    EXPECT_EQ(expected, rows(labels));
}

TEST_F(AdaptiveRecording, StatesThatPyTorchReportsAreCompared) {
    const auto adaptive = record({.checked_step = 120}, "adaptive");
    ASSERT_TRUE(adaptive);
    EXPECT_EQ(std::vector<std::string>{"1"}, rows("SELECT value FROM meta WHERE key='recorded.checks'"));
    EXPECT_GT(repeated_steps(adaptive->devices.at(0)), steps - 30);
}

TEST_F(AdaptiveRecording, MarksKeepTheirPlace) {
    const auto adaptive = record({.marks_every = 10}, "adaptive");
    ASSERT_TRUE(adaptive);
    ASSERT_EQ(adaptive->marks.size(), 20u);
    const DeviceHistory& device = adaptive->devices.at(0);
    EXPECT_GT(repeated_steps(device), steps - 30);
    for (const Mark& mark : adaptive->marks) {
        EXPECT_EQ(mark.events.at(0), device.events_until(mark.time)) << mark.name;
    }
}

}  // namespace
}  // namespace tidemark::test
