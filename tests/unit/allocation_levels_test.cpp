// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/allocation_levels.h"

#include <gtest/gtest.h>

#include "tests/unit/sample_trace.h"

namespace tidemark::test {
namespace {

/// Adds an allocation that event `made` makes and event `freed` frees.
AllocationIndex add(DeviceHistory& device, EventNumber made, EventNumber freed, uint64_t bytes) {
    return add_allocation(device, made, freed, freed, 0x1000, bytes, bytes, 0);
}

using Levels = std::vector<AllocationLevel>;

TEST(AllocationLevels, AreTheSumsAfterEachChange) {
    DeviceHistory device;
    const AllocationIndex older = add(device, before_history, 4, 100);
    const AllocationIndex first = add(device, 1, 6, 10);
    add(device, 2, never, 1000);  // not in the set
    const AllocationIndex last = add(device, 3, never, 1);
    const std::array set{older, first, last};
    const Levels levels = levels_of(device, set);
    EXPECT_EQ((Levels{{0, 100, 1}, {2, 110, 2}, {4, 111, 3}, {5, 11, 2}, {7, 1, 1}}), levels);
    EXPECT_EQ(100, level_at(levels, 1).bytes) << "the state before event 1";
    EXPECT_EQ(110, level_at(levels, 2).bytes) << "the state after it";
    EXPECT_EQ(1, level_at(levels, 1'000'000).bytes);
}

TEST(AllocationLevels, BeforeTheFirstThereIsNothing) {
    DeviceHistory device;
    const std::array set{add(device, 5, never, 8)};
    EXPECT_EQ(0, level_at(levels_of(device, set), 5).bytes);
    EXPECT_EQ(0, level_at(levels_of(device, set), 5).count);
    EXPECT_EQ(8, level_at(levels_of(device, set), 6).bytes);
    EXPECT_TRUE(levels_of(device, {}).empty());
    EXPECT_EQ(0, level_at({}, 3).bytes);
}

}  // namespace
}  // namespace tidemark::test
