// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Expandable segments of the allocator model: a range of addresses per pool and stream, in which memory is mapped
// where free blocks are not enough, in portions of 2 MiB (small pool) or 20 MiB.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/allocator/rules.h"
#include "storage/whatif/driver.h"
#include "storage/whatif/heap.h"

namespace tidemark {

class ExpandableSegments {
public:
    /// `device_bytes`: of the whole device; a range is an eighth larger.
    ExpandableSegments(const AllocatorSettings& settings, Heap& heap, Driver& driver, uint64_t device_bytes)
        : settings_(settings), heap_(heap), driver_(driver), device_bytes_(device_bytes) {}

    uint64_t range_size(uint32_t arena);
    /// A range whose blocks the caller adds; its number.
    uint32_t add_range(uint64_t base, uint32_t arena);

    /// A free block of at least that size, filed nowhere, for which memory was mapped; no_block: out of memory. What
    /// was mapped by then stays.
    BlockIndex grow(uint32_t arena, uint64_t size);
    /// Unmaps the portions that are wholly in the free block. Returns the bytes; ranges without memory disappear.
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
