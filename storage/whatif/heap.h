// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The blocks of the allocator model: linked by address within a segment, filed by size where they are free.
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
    uint64_t filed_at = 0;  ///< count of the large pool's searches when it became free: its age for the collector
    BlockIndex prev = no_block, next = no_block;
    uint32_t arena = 0;
    uint32_t range = UINT32_MAX;  ///< of expandable memory; else none
    AllocationIndex owner = no_allocation;
    State state = State::free;

    bool is_split() const { return prev != no_block || next != no_block; }
    bool is_expandable() const { return range != UINT32_MAX; }
    /// It is not in use; it may have no memory.
    bool is_available() const { return state == State::free || state == State::unmapped; }
};

/// A free block as it is searched for: the smallest that fits, among those the one at the lowest address.
struct FreeBlock {
    uint64_t size = 0, address = 0;
    BlockIndex block = no_block;
    auto operator<=>(const FreeBlock&) const = default;
};

/// Free memory of one pool, stream and kind of size. Blocks never serve another one.
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
    /// Forgets a block that is filed nowhere and has no neighbors.
    void drop(BlockIndex b) { blocks_.drop(b); }
    /// Visits every block that is not forgotten: visit(BlockIndex).
    template <class Visit>
    void for_each(Visit&& visit) const {
        blocks_.for_each(visit);
    }
    /// Leaves `size` bytes in b; the rest becomes a block after it, in the same state, filed nowhere.
    BlockIndex cut(BlockIndex b, uint64_t size) { return blocks_.cut(b, size); }
    /// Joins the neighbors that are in the same state. b must be filed nowhere.
    void merge(BlockIndex b);

    /// Free blocks go to their arena's free list, unmapped ones to its list of those.
    void file(BlockIndex b);
    void unfile(BlockIndex b);

    /// Searches of the default pool's large blocks so far: the collector's clock.
    uint64_t searches = 0;

private:
    std::unique_ptr<std::pmr::unsynchronized_pool_resource> memory_ =
        std::make_unique<std::pmr::unsynchronized_pool_resource>();
    BlockList<HeapBlock> blocks_;
    std::vector<Arena> arenas_;
};

}  // namespace tidemark
