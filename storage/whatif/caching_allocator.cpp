// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/caching_allocator.h"

#include <algorithm>

namespace tidemark {

namespace {

using State = HeapBlock::State;

}  // namespace

CachingAllocator::CachingAllocator(const AllocatorSettings& settings, Driver& driver, uint64_t device_bytes,
                                   uint64_t memory_limit)
    : settings_(settings),
      driver_(driver),
      memory_limit_(memory_limit),
      expandable_(settings_, heap_, driver, device_bytes) {}

BlockIndex CachingAllocator::allocate(const Request& request) {
    const uint64_t rounded = round_size(settings_, request.bytes);
    const uint32_t arena = heap_.arena_of(request.pool, request.stream, rounded > small_size);
    BlockIndex b = find_free(arena, rounded);
    if (b == no_block) {
        collect_garbage();
        b = allocate_with_retries(arena, rounded, request.captured);
    }
    return b == no_block ? no_block : assign_block(b, rounded, request.owner);
}

/// Finds the best fit. The end of an expandable segment counts with its maximum size, so that it is used last.
BlockIndex CachingAllocator::find_free(uint32_t arena, uint64_t rounded) {
    const auto& [owner, free, unmapped] = heap_.arena(arena);
    if (owner.pool == 0 && owner.is_large) {
        ++heap_.searches;
    }
    auto found = free.lower_bound({rounded, 0, 0});
    const auto is_expandable = [&] { return heap_[found->block].is_expandable(); };
    if (found != free.end() && is_expandable() && settings_.expandable_segments) {
        const auto room = [&](auto at) {
            const BlockIndex next = heap_[at->block].next;
            return at->size + (next != no_block && heap_[next].state == State::unmapped ? heap_[next].size : 0);
        };
        for (auto next = std::next(found); is_expandable() && next != free.end() && room(next) < room(found); ++next) {
            found = next;
        }
    }
    while (found != free.end() && is_expandable() && !settings_.expandable_segments) {
        ++found;
    }
    if (found == free.end()) {
        return no_block;
    }
    const bool is_oversize = found->size >= settings_.max_split_size;
    const bool is_oversize_request = rounded >= settings_.max_split_size;
    if (is_oversize_request ? found->size >= rounded + settings_.max_non_split_rounding : is_oversize) {
        return no_block;
    }
    const BlockIndex b = found->block;
    heap_.unfile(b);
    return b;
}

BlockIndex CachingAllocator::allocate_from_driver(uint32_t arena, uint64_t rounded) {
    if (settings_.expandable_segments) {
        const int64_t bytes = expandable_.mapped_bytes, mappings = expandable_.mappings;
        const BlockIndex b = expandable_.grow(arena, rounded);
        figures_.reserved += expandable_.mapped_bytes - bytes;
        figures_.driver_allocations += expandable_.mappings - mappings;
        return b;
    }
    HeapBlock block;
    block.size = segment_size(settings_, rounded);
    block.arena = arena;
    const auto address = driver_.allocate(block.size, heap_.arena(arena).owner);
    if (!address) {
        return no_block;
    }
    block.address = *address;
    figures_.reserved += static_cast<int64_t>(block.size);
    ++figures_.driver_allocations;
    return heap_.add(block);
}

/// Requests driver memory. If the driver refuses, returns oversize blocks, then all unused memory, and retries after
/// each.
BlockIndex CachingAllocator::allocate_with_retries(uint32_t arena, uint64_t rounded, bool captured) {
    BlockIndex b = allocate_from_driver(arena, rounded);
    if (b == no_block && release_oversize(arena, rounded)) {
        b = allocate_from_driver(arena, rounded);
    }
    if (b == no_block && !captured) {
        release_cached(freeable_);
        ++figures_.retries;
        b = allocate_from_driver(arena, rounded);
    }
    return b;
}

BlockIndex CachingAllocator::assign_block(BlockIndex b, uint64_t rounded, AllocationIndex owner) {
    const bool is_large = heap_.arena_with(b).owner.is_large;
    const uint64_t rest = heap_[b].size - rounded;
    if (should_split(settings_, rounded, rest, is_large, settings_.expandable_segments)) {
        heap_.file(heap_.cut(b, rounded));
    }
    heap_[b].state = State::allocated;
    heap_[b].owner = owner;
    figures_.allocated += static_cast<int64_t>(heap_[b].size);
    return b;
}

void CachingAllocator::request_free(BlockIndex b) {
    heap_[b].state = State::pending;
    figures_.allocated -= static_cast<int64_t>(heap_[b].size);
    ++pending_;
}

void CachingAllocator::complete_free(BlockIndex b) {
    heap_[b].state = State::free;
    heap_.merge(b);
    heap_.file(b);
    --pending_;
}

FreeGaps CachingAllocator::free_gaps() const {
    FreeGaps gaps;
    const auto is_live = [&](BlockIndex b) { return b != no_block && !heap_[b].is_available(); };
    heap_.for_each([&](BlockIndex b) {
        // Free neighbors are merged, so a free block in a segment with live blocks is next to one of them.
        if (heap_[b].state == State::free && (is_live(heap_[b].prev) || is_live(heap_[b].next))) {
            gaps.bytes += static_cast<int64_t>(heap_[b].size);
            ++gaps.count;
        }
    });
    return gaps;
}

std::vector<BlockIndex> CachingAllocator::adopt(const SegmentOwner& owner, const std::vector<StartBlock>& blocks) {
    if (blocks.empty()) {
        return {};
    }
    const uint32_t arena = arena_of(owner);
    const uint32_t range =
        owner.is_expandable ? expandable_.add_range(blocks.front().address, arena) : HeapBlock().range;
    std::vector<BlockIndex> result;
    for (const StartBlock& start : blocks) {
        HeapBlock block;
        block.address = start.address;
        block.size = start.size;
        block.prev = result.empty() ? no_block : result.back();
        block.arena = arena;
        block.range = range;
        block.owner = start.owner;
        block.state = start.state;
        result.push_back(heap_.add(block));
        if (block.prev != no_block) {
            heap_[block.prev].next = result.back();
        }
        figures_.reserved += start.state == State::unmapped ? 0 : static_cast<int64_t>(start.size);
        figures_.allocated += start.state == State::allocated ? static_cast<int64_t>(start.size) : 0;
        pending_ += start.state == State::pending;
    }
    for (const BlockIndex b : result) {
        if (heap_[b].is_available()) {
            heap_.file(b);
        }
    }
    return result;
}

}  // namespace tidemark
