// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Where the active blocks lie in the segments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/replay/active_walk.h"

namespace tidemark {

struct PlacedBlock {
    uint64_t address = 0, size = 0;
    uint64_t requested = 0;  ///< bytes
    AllocationIndex allocation = no_allocation;
    bool is_pending = false;
};

/// A contiguous range of segment memory.
struct SegmentRange {
    uint64_t address = 0, size = 0;
    uint32_t segment = no_segment;  ///< its first piece in DeviceHistory::segments
};

/// Returns the active blocks by address. Where a repeated step allocated is unknown: its blocks lie where those of the
/// step that it repeats lay, or, if something else is there now, in free gaps of segments of the same pool and stream,
/// if necessary in parts.
std::vector<PlacedBlock> placed_blocks(const DeviceHistory& device, const AliveIndex& live, const TimePoint& point,
                                       std::span<const SegmentRange> segments);

}  // namespace tidemark
