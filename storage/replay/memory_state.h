// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The allocator's memory at one event: segments with their blocks, exact sizes, and the free gaps between them.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/replay/alive_index.h"
#include "storage/replay/time_point.h"
#include "storage/trace/trace.h"

namespace tidemark {

struct Block {
    uint64_t address = 0;
    uint64_t size = 0;
    BlockState state = BlockState::inactive;
    AllocationIndex allocation = no_allocation;  ///< none for inactive blocks
};

/// A contiguous range of segment memory (adjacent expandable pieces are merged) with its blocks by address.
struct SegmentState {
    uint32_t segment = no_segment;  ///< index of the (first) piece in DeviceHistory::segments
    uint64_t address = 0;
    uint64_t size = 0;
    uint64_t allocated = 0;  ///< bytes of allocated blocks
    uint64_t pending = 0;    ///< bytes freed by their owner, still used by a stream
    uint64_t requested = 0;  ///< bytes requested by active blocks
    std::vector<Block> blocks;

    uint64_t free() const { return size - allocated - pending; }
    bool cached() const { return allocated + pending == 0; }
};

struct MemoryState {
    TimePoint point;
    std::vector<SegmentState> segments;  ///< by pool, stream, address
    /// Fragmentation: free bytes inside segments that also contain active blocks, the number of free gaps, the largest
    /// gap.
    uint64_t free_in_gaps = 0;
    uint32_t gaps = 0;
    uint64_t largest_gap = 0;
    uint64_t free_in_cached_segments = 0;
    uint64_t reserved = 0, allocated = 0, pending = 0, requested = 0;
};

/// Returns the state at a point, with its event clamped to [0, event_count]. Within a repeated step, a block whose
/// address something else has since taken lies in free gaps, maybe in parts. Takes milliseconds at most. Thread: any.
MemoryState memory_state(const DeviceHistory& device, const AliveIndex& live, TimePoint point);

/// Returns the allocations whose blocks contained an address, oldest first.
std::vector<AllocationIndex> owners_of_address(const DeviceHistory& device, uint64_t address);

}  // namespace tidemark
