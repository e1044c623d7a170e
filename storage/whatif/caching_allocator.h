// A model of PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp, torch 2.1 to 2.12): which block serves a
// request, when the driver is asked, what goes back to it.
//
// Not modelled: captured graphs' checkpoints (setCheckpointPoolState), pools that use their own allocators, memory
// shared between processes. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/allocator/rules.h"
#include "storage/whatif/driver.h"
#include "storage/whatif/expandable_segments.h"
#include "storage/whatif/heap.h"

namespace tidemark {

struct Request {
    uint64_t bytes = 0;
    uint32_t pool = 0, stream = 0;  ///< pool 0 is the default pool
    AllocationIndex owner = no_allocation;
};

class CachingAllocator {
public:
    /// `memory_limit`: what the garbage collector's threshold is a part of; 0: none, it does not work then.
    CachingAllocator(const AllocatorSettings& settings, Driver& driver, uint64_t device_bytes, uint64_t memory_limit);

    /// The block that serves the request; no_block: out of memory, after everything that could be given back was.
    BlockIndex allocate(const Request& request);
    /// Its owner gave an allocated block back; a stream may still use it.
    void request_free(BlockIndex b);
    /// A pending block can serve again.
    void complete_free(BlockIndex b);

    /// torch.cuda.empty_cache(): unused segments of these pools go back.
    void release_cached(const std::vector<uint32_t>& pools);
    /// From now on a private pool's unused memory may go back: no graph needs it any more. The default pool's always may.
    void make_freeable(uint32_t pool);
    std::vector<uint32_t> freeable_pools() const { return freeable_; }
    /// PyTorch lets programs switch it on and off.
    void set_expandable(bool expandable) { settings_.expandable_segments = expandable; }

    const HeapBlock& block(BlockIndex b) const { return heap_[b]; }
    const AllocatorSettings& settings() const { return settings_; }

    struct Figures {
        int64_t reserved = 0, allocated = 0;  ///< bytes; pending blocks count as neither free nor allocated
        int64_t driver_allocations = 0, driver_frees = 0, given_back = 0, retries = 0;
    };
    Figures figures() const;

    /// For a start state: memory that is there already, as one free block.
    BlockIndex add_segment(uint64_t address, uint64_t size, const SegmentOwner& owner);
    BlockIndex add_expandable_range(uint64_t base, const SegmentOwner& owner);
    /// Splits a block that is not filed by address, for a start state.
    Heap& heap() { return heap_; }
    ExpandableSegments& expandable() { return expandable_; }
    void count_start_block(const HeapBlock& block);

private:
    BlockIndex find_free(uint32_t arena, uint64_t rounded);
    BlockIndex ask_driver(uint32_t arena, uint64_t rounded);
    BlockIndex ask_driver_hard(uint32_t arena, uint64_t rounded);
    BlockIndex hand_out(BlockIndex b, uint64_t rounded, AllocationIndex owner);

    bool release_oversize(uint32_t arena, uint64_t rounded);
    void collect_garbage();
    std::vector<BlockIndex> collectable() const;
    void complete_all_frees();
    void release_unused(uint32_t arena);
    void release_segment(BlockIndex b);

    AllocatorSettings settings_;
    Driver& driver_;
    const uint64_t memory_limit_;
    Heap heap_;
    ExpandableSegments expandable_;
    std::vector<uint32_t> freeable_;
    Figures figures_;
    int64_t pending_ = 0;  ///< blocks that wait for a stream
};

}  // namespace tidemark
