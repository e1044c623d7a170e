// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A model of PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp, torch 2.1 to 2.12): which block serves a
// request, when the driver is called, which memory is returned to it.
//
// Not modeled: checkpoints of captured graphs (setCheckpointPoolState), pools with their own allocators, memory shared
// between processes. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/allocator/rules.h"
#include "storage/whatif/driver.h"
#include "storage/whatif/expandable_segments.h"
#include "storage/whatif/heap.h"
#include "storage/whatif/what_if.h"

namespace tidemark {

struct Request {
    uint64_t bytes = 0;
    uint32_t pool = 0, stream = 0;  ///< pool 0 is the default pool
    AllocationIndex owner = no_allocation;
    bool captured = false;  ///< a graph is being captured: if the driver refuses, no unused memory is returned
};

class CachingAllocator {
public:
    /// The garbage collector's threshold is a fraction of `memory_limit` (bytes); 0 turns the collector off.
    CachingAllocator(const AllocatorSettings& settings, Driver& driver, uint64_t device_bytes, uint64_t memory_limit);
    CachingAllocator(const CachingAllocator&) = delete;
    CachingAllocator& operator=(const CachingAllocator&) = delete;

    /// Returns the block that serves the request; no_block means out of memory, after all unused memory was returned.
    BlockIndex allocate(const Request& request);
    /// Handles the owner's free. A stream may still use the block.
    void request_free(BlockIndex b);
    /// Makes a pending block available.
    void complete_free(BlockIndex b);

    /// Models torch.cuda.empty_cache(): returns the unused segments of these pools.
    void release_cached(const std::vector<uint32_t>& pools);
    /// Allows the return of a private pool's unused memory, because no graph needs it any more. The default pool's
    /// memory can always be returned.
    void make_freeable(uint32_t pool);
    const std::vector<uint32_t>& freeable_pools() const { return freeable_; }
    /// Programs can change this setting while they run.
    void set_expandable(bool expandable) { settings_.expandable_segments = expandable; }

    const HeapBlock& block(BlockIndex b) const { return heap_[b]; }
    bool is_allocated(BlockIndex b, AllocationIndex owner) const {
        return b != no_block && heap_[b].owner == owner && heap_[b].state == HeapBlock::State::allocated;
    }
    /// Returns whether the free of this owner's block is still pending. A retry may have completed it.
    bool is_pending(BlockIndex b, AllocationIndex owner) const {
        return b != no_block && heap_[b].owner == owner && heap_[b].state == HeapBlock::State::pending;
    }

    struct Figures {
        int64_t reserved = 0, allocated = 0;  ///< bytes; pending blocks are not allocated
        int64_t driver_allocations = 0, driver_frees = 0, returned_memory = 0, retries = 0, collections = 0;
    };
    const Figures& figures() const { return figures_; }
    /// Returns the free memory beside live blocks. Visits every block.
    FreeGaps free_gaps() const;

    /// A block of a start state.
    struct StartBlock {
        uint64_t address = 0, size = 0;
        HeapBlock::State state = HeapBlock::State::free;
        AllocationIndex owner = no_allocation;
    };
    /// Adds the memory of the start state: all blocks of one segment, or of one range of expandable memory with its
    /// unmapped parts, by address and without gaps. Returns their indexes in the model.
    std::vector<BlockIndex> adopt(const SegmentOwner& owner, const std::vector<StartBlock>& blocks);
    /// Returns the size of an expandable address range of this owner.
    uint64_t range_size(const SegmentOwner& owner) { return expandable_.range_size(arena_of(owner)); }

private:
    uint32_t arena_of(const SegmentOwner& owner) { return heap_.arena_of(owner.pool, owner.stream, owner.is_large); }
    bool collects_garbage() const { return memory_limit_ != 0 && settings_.garbage_collection_threshold > 0; }
    BlockIndex find_free(uint32_t arena, uint64_t rounded);
    BlockIndex allocate_from_driver(uint32_t arena, uint64_t rounded);
    BlockIndex allocate_with_retries(uint32_t arena, uint64_t rounded, bool captured);
    BlockIndex assign_block(BlockIndex b, uint64_t rounded, AllocationIndex owner);

    bool release_oversize(uint32_t arena, uint64_t rounded);
    void collect_garbage();
    std::vector<BlockIndex> collectable();
    void complete_all_frees();
    void release_unused(uint32_t arena);
    void release_segment(BlockIndex b);

    AllocatorSettings settings_;
    Driver& driver_;
    const uint64_t memory_limit_;
    Heap heap_;
    ExpandableSegments expandable_;
    std::vector<uint32_t> freeable_{0};
    Figures figures_;
    int64_t pending_ = 0;  ///< blocks that are pending free
};

}  // namespace tidemark
