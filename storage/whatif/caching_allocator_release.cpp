// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The return of memory to the driver, in the allocator model.
#include <algorithm>

#include "storage/whatif/caching_allocator.h"

namespace tidemark {

namespace {

using State = HeapBlock::State;

}  // namespace

void CachingAllocator::make_freeable(uint32_t pool) {
    if (std::find(freeable_.begin(), freeable_.end(), pool) == freeable_.end()) {
        freeable_.push_back(pool);
    }
}

void CachingAllocator::release_cached(const std::vector<uint32_t>& pools) {
    complete_all_frees();
    for (uint32_t arena = 0; arena < heap_.arena_count(); ++arena) {
        if (std::find(pools.begin(), pools.end(), heap_.arena(arena).owner.pool) != pools.end()) {
            release_unused(arena);
        }
    }
}

/// Completes all pending frees, as PyTorch does before it returns memory.
void CachingAllocator::complete_all_frees() {
    if (pending_ == 0) {
        return;
    }
    std::vector<BlockIndex> pending;
    heap_.for_each([&](BlockIndex b) {
        if (heap_[b].state == State::pending) {
            pending.push_back(b);
        }
    });
    for (const BlockIndex b : pending) {
        complete_free(b);
    }
}

void CachingAllocator::release_unused(uint32_t arena) {
    std::vector<BlockIndex> segments, mapped;
    for (const FreeBlock& free : heap_.arena(arena).free) {
        if (heap_[free.block].is_expandable()) {
            mapped.push_back(free.block);
        } else if (!heap_[free.block].is_split()) {
            segments.push_back(free.block);
        }
    }
    std::for_each(segments.begin(), segments.end(), [&](BlockIndex b) { release_segment(b); });
    for (const BlockIndex b : mapped) {
        const int64_t bytes = static_cast<int64_t>(expandable_.shrink(b));
        figures_.reserved -= bytes;
        figures_.returned_memory += bytes;
        figures_.driver_frees += bytes != 0;
    }
}

void CachingAllocator::release_segment(BlockIndex b) {
    const HeapBlock& block = heap_[b];
    driver_.free(block.address, block.size);
    figures_.reserved -= static_cast<int64_t>(block.size);
    figures_.returned_memory += static_cast<int64_t>(block.size);
    ++figures_.driver_frees;
    heap_.unfile(b);
    heap_.drop(b);
}

/// If max_split_size is set, returns the smallest oversize block that is sufficient; otherwise as many as needed,
/// largest first. Returns false if they are not sufficient.
bool CachingAllocator::release_oversize(uint32_t arena, uint64_t rounded) {
    if (settings_.max_split_size == UINT64_MAX) {
        return false;
    }
    auto& free = heap_.arena(arena).free;
    const auto can_release = [&](const FreeBlock& f) {
        return f.size >= settings_.max_split_size && !heap_[f.block].is_expandable() && !heap_[f.block].is_split();
    };
    const uint64_t needed = std::max(rounded, settings_.max_split_size);
    if (const auto one = free.lower_bound({needed, 0, 0}); one != free.end()) {
        const bool is_released = can_release(*one);
        if (is_released) {
            release_segment(one->block);
        }
        return is_released;
    }
    uint64_t released = 0;
    while (released < needed && !free.empty() && can_release(*free.rbegin())) {
        released += free.rbegin()->size;
        release_segment(free.rbegin()->block);
    }
    return released >= needed;
}

std::vector<BlockIndex> CachingAllocator::collectable() {
    std::vector<BlockIndex> blocks;
    for (uint32_t arena = 0; arena < heap_.arena_count(); ++arena) {
        const Arena& a = heap_.arena(arena);
        if (a.owner.pool != 0 || !a.owner.is_large) {
            continue;
        }
        for (const FreeBlock& free : a.free) {
            if (!heap_[free.block].is_split() && !heap_[free.block].is_expandable()) {
                blocks.push_back(free.block);
            }
        }
    }
    return blocks;
}

/// Above the threshold, returns unused large segments until enough is free, first those older than the average.
void CachingAllocator::collect_garbage() {
    const int64_t threshold =
        static_cast<int64_t>(settings_.garbage_collection_threshold * static_cast<double>(memory_limit_));
    if (!collects_garbage() || figures_.reserved <= threshold) {
        return;
    }
    std::vector<BlockIndex> blocks = collectable();
    figures_.collections += !blocks.empty();
    const auto age = [&](BlockIndex b) { return heap_.searches - heap_[b].filed_at; };
    uint64_t total_age = 0;
    for (const BlockIndex b : blocks) {
        total_age += age(b);
    }
    while (figures_.reserved > threshold && !blocks.empty()) {
        const double average = static_cast<double>(total_age) / static_cast<double>(blocks.size());
        const auto old = std::stable_partition(blocks.begin(), blocks.end(),
                                               [&](BlockIndex b) { return static_cast<double>(age(b)) < average; });
        if (old == blocks.end()) {
            break;
        }
        for (auto b = old; b != blocks.end(); ++b) {
            total_age -= age(*b);
            release_segment(*b);
        }
        blocks.erase(old, blocks.end());
    }
}

}  // namespace tidemark
