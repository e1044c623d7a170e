// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// How much memory a set of allocations takes over time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

/// The memory of the set from this state of the device on, until the next level's.
struct AllocationLevel {
    EventNumber state = 0;
    int64_t bytes = 0;  ///< of the blocks that are allocated
    int64_t count = 0;
    bool operator==(const AllocationLevel&) const = default;
};

/// Returns the levels in the order of their states, each unlike the one before. Before the first there is no memory.
std::vector<AllocationLevel> levels_of(const DeviceHistory& device, std::span<const AllocationIndex> allocations);

/// Returns the level in a state.
AllocationLevel level_at(std::span<const AllocationLevel> levels, EventNumber state);

}  // namespace tidemark
