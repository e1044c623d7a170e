// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The blocks of the allocator model, linked by address within a segment. Free blocks are also in lists by size.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <set>
#include <vector>

#include "storage/allocator/block_list.h"
#include "storage/allocator/block_map.h"
#include "storage/trace/trace.h"

namespace tidemark {

struct HeapBlock {
    enum class State : uint8_t { free, allocated, pending, unmapped };

    uint64_t address = 0, size = 0;
    uint64_t filed_at = 0;  ///< value of Heap::searches when it became free: its age for the collector
    BlockIndex prev = no_block, next = no_block;
    uint32_t arena = 0;
    uint32_t range = UINT32_MAX;  ///< of expandable memory; otherwise none
    AllocationIndex owner = no_allocation;
    State state = State::free;

    bool is_split() const { return prev != no_block || next != no_block; }
    bool is_expandable() const { return range != UINT32_MAX; }
    /// Returns whether it is not in use; it may be unmapped.
    bool is_available() const { return state == State::free || state == State::unmapped; }
};

/// The sort key of a free block: smallest size first, then lowest address.
struct FreeBlock {
    uint64_t size = 0, address = 0;
    BlockIndex block = no_block;
    auto operator<=>(const FreeBlock&) const = default;
};

/// Free memory of one pool, stream and size class. A block is only used within its arena.
struct Arena {
    SegmentOwner owner;  ///< is_expandable is not used
    std::pmr::set<FreeBlock> free;
    std::map<uint64_t, BlockIndex> unmapped;  ///< by address
};

class Heap {
public:
    HeapBlock& operator[](BlockIndex b) { return blocks_[b]; }
    const HeapBlock& operator[](BlockIndex b) const { return blocks_[b]; }

    uint32_t arena_of(uint32_t pool, uint32_t stream, bool is_large);
    Arena& arena(uint32_t index) { return arenas_[index]; }
    Arena& arena_with(BlockIndex b) { return arenas_[blocks_[b].arena]; }
    uint32_t arena_count() const { return static_cast<uint32_t>(arenas_.size()); }

    BlockIndex add(const HeapBlock& block) { return blocks_.add(block); }
    /// Drops a block that is in no list and has no neighbors.
    void drop(BlockIndex b) { blocks_.drop(b); }
    /// Visits every block that was not dropped: visit(BlockIndex).
    template <class Visit>
    void for_each(Visit&& visit) const {
        blocks_.for_each(visit);
    }
    /// Shortens b to `size` bytes. The rest becomes a new block after it with the same state, in no list.
    BlockIndex cut(BlockIndex b, uint64_t size) { return blocks_.cut(b, size); }
    /// Merges b with neighbors of the same state. Requires that b is in no list.
    void merge(BlockIndex b);

    /// Adds a free or unmapped block to the corresponding list of its arena.
    void file(BlockIndex b);
    void unfile(BlockIndex b);

    /// Number of searches for large blocks of the default pool: the collector's clock.
    uint64_t searches = 0;

private:
    std::unique_ptr<std::pmr::unsynchronized_pool_resource> memory_ =
        std::make_unique<std::pmr::unsynchronized_pool_resource>();
    BlockList<HeapBlock> blocks_;
    std::vector<Arena> arenas_;
};

}  // namespace tidemark
