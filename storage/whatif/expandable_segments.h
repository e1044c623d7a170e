// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Expandable segments of the allocator model: an address range per pool and stream, in which memory is mapped if free
// blocks are too small, in units of 2 MiB (small pool) or 20 MiB.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/allocator/rules.h"
#include "storage/whatif/driver.h"
#include "storage/whatif/heap.h"

namespace tidemark {

class ExpandableSegments {
public:
    /// `device_bytes`: size of the whole device; a range is an eighth larger.
    ExpandableSegments(const AllocatorSettings& settings, Heap& heap, Driver& driver, uint64_t device_bytes)
        : settings_(settings), heap_(heap), driver_(driver), device_bytes_(device_bytes) {}

    uint64_t range_size(uint32_t arena);
    /// Adds a range and returns its number. The caller adds the blocks.
    uint32_t add_range(uint64_t base, uint32_t arena);

    /// Maps memory for a free block of at least `size` bytes. Returns the block, which is in no free list; no_block
    /// means out of memory. Memory mapped before the failure stays mapped.
    BlockIndex grow(uint32_t arena, uint64_t size);
    /// Unmaps the units that lie completely inside the free block. Returns the bytes. Removes ranges without memory.
    uint64_t shrink(BlockIndex b);

    int64_t mapped_bytes = 0, mappings = 0;  ///< so far

private:
    struct Range {
        uint64_t base = 0, portion = 0;
    };

    uint64_t portion(uint32_t arena);
    BlockIndex add_empty_range(uint32_t arena);
    BlockIndex find_room(uint32_t arena, uint64_t size);
    bool has_room(BlockIndex b, uint64_t size) const;
    bool map(BlockIndex b, uint64_t size);
    void drop_if_empty(BlockIndex b);

    const AllocatorSettings& settings_;
    Heap& heap_;
    Driver& driver_;
    const uint64_t device_bytes_;
    std::vector<Range> ranges_;
};

}  // namespace tidemark
