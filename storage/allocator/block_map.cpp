// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/allocator/block_map.h"

#include <algorithm>

namespace tidemark {

namespace {

/// What a block stores of a size in a damaged file.
constexpr uint64_t most_requested = (uint64_t{1} << 60) - 1;

}  // namespace

uint32_t BlockMap::new_block(const Block& block) {
    const uint32_t b = blocks_.add(block);
    by_address_.add(blocks_, b);
    return b;
}

void BlockMap::drop_block(uint32_t b) {
    by_address_.remove(blocks_[b].address, b);
    blocks_.drop(b);
}

uint32_t BlockMap::block_at(uint64_t address) const { return by_address_.find(blocks_, address); }

BlockMap::Ranges::const_iterator BlockMap::range_covering(uint64_t address) const {
    auto range = ranges_.upper_bound(address);
    if (range == ranges_.begin()) {
        return ranges_.end();
    }
    --range;
    return address < range->second.end ? range : ranges_.end();
}

uint32_t BlockMap::block_covering(uint64_t address) const {
    if (const uint32_t b = block_at(address); b != none) {
        return b;
    }
    const auto range = range_covering(address);
    if (range == ranges_.end()) {
        return none;
    }
    uint32_t b = range->second.first;
    while (b != none && blocks_[b].address + blocks_[b].size <= address) {
        b = blocks_[b].next;
    }
    return b;
}

const SegmentOwner* BlockMap::owner_of(uint64_t address) const {
    const auto range = range_covering(address);
    return range == ranges_.end() ? nullptr : &range->second.owner;
}

uint32_t BlockMap::cut(uint32_t b, uint64_t size) {
    const uint32_t u = blocks_.cut(b, size);
    by_address_.add(blocks_, u);
    note_last(u);
    return u;
}

void BlockMap::join_next(uint32_t b) {
    const uint32_t next = blocks_[b].next;
    by_address_.remove(blocks_[next].address, next);
    blocks_.absorb_next(b);
    note_last(b);
}

void BlockMap::note_last(uint32_t b) {
    if (blocks_[b].next == none) {
        ranges_.find(range_covering(blocks_[b].address)->first)->second.last = b;
    }
}

bool BlockMap::add_segment(uint64_t address, uint64_t size, const SegmentOwner& owner) {
    if (size == 0 || address + size < address) {
        return false;
    }
    const auto above = ranges_.lower_bound(address);
    const bool hits_above = above != ranges_.end() && above->first < address + size;
    if (hits_above || range_covering(address) != ranges_.end()) {
        return false;
    }
    Block block;
    block.address = address;
    block.size = size;
    block.is_large = owner.is_large;
    block.is_expandable = owner.is_expandable;
    const uint32_t b = new_block(block);
    auto range = ranges_.emplace(address, Range{address + size, b, b, owner}).first;
    counters_.increase(Metric::reserved_bytes, owner.is_large, static_cast<int64_t>(size));
    ++counters_.num_device_alloc;
    if (!owner.is_expandable) {
        counters_.increase(Metric::segment, owner.is_large, 1);
        if (size >= settings_.max_split_size) {
            counters_.oversize_segments.increase(1);
        }
        return true;
    }
    const auto joins = [&](Ranges::iterator low, Ranges::iterator high) {
        return low->second.end == high->first && low->second.owner == high->second.owner;
    };
    const auto join = [&](Ranges::iterator low, Ranges::iterator high) {
        const uint32_t left = low->second.last, right = high->second.first;
        blocks_[left].next = right;
        blocks_[right].prev = left;
        low->second.end = high->second.end;
        low->second.last = high->second.last;
        ranges_.erase(high);
        if (free_at(left) && free_at(right)) {
            join_next(left);
        }
    };
    if (auto next = std::next(range); next != ranges_.end() && joins(range, next)) {
        join(range, next);
    }
    if (range != ranges_.begin() && joins(std::prev(range), range)) {
        join(std::prev(range), range);
    }
    return true;
}

bool BlockMap::remove_segment(uint64_t address, uint64_t size) {
    const auto range = range_covering(address);
    if (range == ranges_.end() || address + size > range->second.end) {
        return false;
    }
    if (range->second.owner.is_expandable) {
        return remove_mapped(range, address, size);
    }
    const Range& segment = range->second;
    const uint32_t b = segment.first;
    if (range->first != address || segment.end != address + size || blocks_[b].next != none ||
        blocks_[b].state != State::free) {
        return false;
    }
    const bool is_large = segment.owner.is_large;
    counters_.decrease(Metric::segment, is_large, 1);
    counters_.decrease(Metric::reserved_bytes, is_large, static_cast<int64_t>(size));
    ++counters_.num_device_free;
    if (size >= settings_.max_split_size) {
        counters_.oversize_segments.decrease(1);
    }
    drop_block(b);
    ranges_.erase(range);
    return true;
}

bool BlockMap::remove_mapped(Ranges::const_iterator range, uint64_t address, uint64_t size) {
    uint32_t b = block_covering(address);
    if (!free_at(b) || blocks_[b].address + blocks_[b].size < address + size) {
        return false;
    }
    if (blocks_[b].address < address) {
        b = cut(b, address - blocks_[b].address);
    }
    if (blocks_[b].size > size) {
        cut(b, size);
    }
    const SegmentOwner owner = range->second.owner;
    const uint64_t low_start = range->first, high_end = range->second.end;
    const uint32_t low_first = range->second.first, high_last = range->second.last;
    const uint32_t low_last = blocks_[b].prev, high_first = blocks_[b].next;
    ranges_.erase(range);
    if (low_last != none) {
        blocks_[low_last].next = none;
        ranges_.emplace(low_start, Range{address, low_first, low_last, owner});
    }
    if (high_first != none) {
        blocks_[high_first].prev = none;
        ranges_.emplace(address + size, Range{high_end, high_first, high_last, owner});
    }
    drop_block(b);
    counters_.decrease(Metric::reserved_bytes, owner.is_large, static_cast<int64_t>(size));
    ++counters_.num_device_free;
    return true;
}

// Handles an allocation for which the state has no free block. Ends, shortens or merges the blocks in the way until one
// free block starts at the address. The caller reports the contradiction.
uint32_t BlockMap::make_room_at(uint64_t address, uint64_t rounded) {
    uint32_t b = block_covering(address);
    if (b == none) {
        return none;
    }
    if (blocks_[b].address < address) {
        if (blocks_[b].state == State::free) {
            b = cut(b, address - blocks_[b].address);
        } else {
            const uint64_t lost = blocks_[b].address + blocks_[b].size - address;
            const Block& owner = blocks_[b];
            counters_.decrease(Metric::active_bytes, owner.is_large, static_cast<int64_t>(lost));
            if (owner.state == State::allocated) {
                counters_.decrease(Metric::allocated_bytes, owner.is_large, static_cast<int64_t>(lost));
            }
            b = cut(b, address - blocks_[b].address);
            blocks_[b].state = State::free;
            blocks_[b].requested = 0;
        }
    }
    if (blocks_[b].state == State::allocated) {
        request_free(address);
    }
    if (blocks_[b].state == State::pending) {
        const uint64_t size = blocks_[b].size;
        release(b);
        b = block_covering(address);
        if (blocks_[b].address < address) {
            b = cut(b, address - blocks_[b].address);
        }
        if (blocks_[b].size > size && blocks_[b].size > rounded) {
            cut(b, std::max(size, rounded));
        }
    }
    while (blocks_[b].size < rounded && free_at(blocks_[b].next)) {
        join_next(b);
    }
    return b;
}

BlockMap::Placement BlockMap::allocate(uint64_t address, uint64_t requested, std::optional<uint64_t> exact_size) {
    const uint64_t rounded = exact_size.value_or(round_size(settings_, requested));
    uint32_t b = block_at(address);
    const bool consistent = free_at(b) && blocks_[b].size >= rounded;
    if (!consistent) {
        const auto range = range_covering(address);
        if (range == ranges_.end()) {
            return {};
        }
        const bool is_large = range->second.owner.is_large;
        const Inactive before = inactive_in(range->second);
        const Inactive counted = counted_inactive(is_large);
        b = make_room_at(address, rounded);
        const Inactive after = inactive_in(range->second), now = counted_inactive(is_large);
        change(Metric::inactive_split, is_large, counted.count + after.count - before.count - now.count);
        change(Metric::inactive_split_bytes, is_large, counted.bytes + after.bytes - before.bytes - now.bytes);
    }
    const Block& found = blocks_[b];
    uint64_t size = rounded;
    if (found.size < rounded) {
        size = found.size;
    } else if (!exact_size &&
               !should_split(settings_, rounded, found.size - rounded, found.is_large, found.is_expandable)) {
        size = found.size;
    }
    take(b, size, requested);
    return {size, consistent};
}

void BlockMap::take(uint32_t b, uint64_t size, uint64_t requested) {
    const bool is_large = blocks_[b].is_large;
    const bool counts_splits = !blocks_[b].is_expandable;
    const bool already_split = is_split(blocks_[b]);
    if (size < blocks_[b].size) {
        const uint32_t rest = cut(b, size);
        if (counts_splits && already_split) {
            counters_.decrease(Metric::inactive_split_bytes, is_large, static_cast<int64_t>(size));
        } else if (counts_splits) {
            counters_.increase(Metric::inactive_split_bytes, is_large, static_cast<int64_t>(blocks_[rest].size));
            counters_.increase(Metric::inactive_split, is_large, 1);
        }
    } else if (counts_splits && already_split) {
        counters_.decrease(Metric::inactive_split_bytes, is_large, static_cast<int64_t>(size));
        counters_.decrease(Metric::inactive_split, is_large, 1);
    }
    blocks_[b].state = State::allocated;
    blocks_[b].requested = requested & most_requested;
    counters_.increase(Metric::allocation, is_large, 1);
    counters_.increase(Metric::allocated_bytes, is_large, static_cast<int64_t>(size));
    counters_.increase(Metric::active, is_large, 1);
    counters_.increase(Metric::active_bytes, is_large, static_cast<int64_t>(size));
    counters_.increase(Metric::requested_bytes, is_large, static_cast<int64_t>(blocks_[b].requested));
    if (size >= settings_.max_split_size) {
        counters_.oversize_allocations.increase(1);
    }
}

bool BlockMap::request_free(uint64_t address) {
    const uint32_t b = block_at(address);
    if (b == none || blocks_[b].state != State::allocated) {
        return false;
    }
    Block& block = blocks_[b];
    block.state = State::pending;
    counters_.decrease(Metric::allocation, block.is_large, 1);
    counters_.decrease(Metric::allocated_bytes, block.is_large, static_cast<int64_t>(block.size));
    if (block.size >= settings_.max_split_size) {
        counters_.oversize_allocations.decrease(1);
    }
    return true;
}

bool BlockMap::complete_free(uint64_t address) {
    const uint32_t b = block_at(address);
    if (b == none || blocks_[b].state != State::pending) {
        return false;
    }
    release(b);
    return true;
}

void BlockMap::release(uint32_t b) {
    const bool is_large = blocks_[b].is_large;
    const bool counts_splits = !blocks_[b].is_expandable;
    const uint64_t size = blocks_[b].size;
    const uint64_t requested = blocks_[b].requested;
    int64_t split_count = 0, split_bytes = 0;
    blocks_[b].state = State::free;
    blocks_[b].requested = 0;
    if (free_at(blocks_[b].next)) {
        split_count -= 1;
        split_bytes -= static_cast<int64_t>(blocks_[blocks_[b].next].size);
        join_next(b);
    }
    if (free_at(blocks_[b].prev)) {
        b = blocks_[b].prev;
        split_count -= 1;
        split_bytes -= static_cast<int64_t>(blocks_[b].size);
        join_next(b);
    }
    if (is_split(blocks_[b])) {
        split_count += 1;
        split_bytes += static_cast<int64_t>(blocks_[b].size);
    }
    if (counts_splits) {
        change(Metric::inactive_split, is_large, split_count);
        change(Metric::inactive_split_bytes, is_large, split_bytes);
    }
    counters_.decrease(Metric::active, is_large, 1);
    counters_.decrease(Metric::active_bytes, is_large, static_cast<int64_t>(size));
    counters_.decrease(Metric::requested_bytes, is_large, static_cast<int64_t>(requested));
}

bool BlockMap::evict(uint64_t address, uint64_t size) {
    const auto range = range_covering(address);
    if (range == ranges_.end() || address + size > range->second.end) {
        return false;
    }
    std::vector<uint64_t> occupied;
    for (uint32_t b = range->second.first; b != none; b = blocks_[b].next) {
        const Block& block = blocks_[b];
        if (block.state != State::free && block.address < address + size && address < block.address + block.size) {
            occupied.push_back(block.address);
        }
    }
    for (uint64_t block : occupied) {
        request_free(block);
        complete_free(block);
    }
    return remove_segment(address, size);
}

bool BlockMap::place(uint64_t address, uint64_t requested, uint64_t size, bool pending) {
    uint32_t b = block_covering(address);
    if (!free_at(b) || blocks_[b].address + blocks_[b].size < address + size) {
        return false;
    }
    if (blocks_[b].address < address) {
        b = cut(b, address - blocks_[b].address);
    }
    take(b, size, requested);
    return !pending || request_free(address);
}

BlockMap::Inactive BlockMap::inactive_in(const Range& range) const {
    Inactive result;
    if (range.owner.is_expandable || range.first == range.last) {
        return result;
    }
    for (uint32_t b = range.first; b != none; b = blocks_[b].next) {
        if (blocks_[b].state == State::free) {
            result.count += 1;
            result.bytes += static_cast<int64_t>(blocks_[b].size);
        }
    }
    return result;
}

BlockMap::Inactive BlockMap::counted_inactive(bool is_large) const {
    const PoolKind kind = is_large ? PoolKind::large : PoolKind::small;
    return {counters_.at(Metric::inactive_split, kind).current,
            counters_.at(Metric::inactive_split_bytes, kind).current};
}

void BlockMap::change(Metric metric, bool is_large, int64_t by) {
    if (by > 0) {
        counters_.increase(metric, is_large, by);
    } else if (by < 0) {
        counters_.decrease(metric, is_large, -by);
    }
}

void BlockMap::restart_counters() {
    // The blocks of a start state were placed in any order, so the free blocks between them are counted here.
    for (const bool is_large : {false, true}) {
        Inactive now;
        for (const auto& [address, range] : ranges_) {
            if (range.owner.is_large == is_large) {
                const Inactive here = inactive_in(range);
                now.count += here.count;
                now.bytes += here.bytes;
            }
        }
        const Inactive counted = counted_inactive(is_large);
        change(Metric::inactive_split, is_large, now.count - counted.count);
        change(Metric::inactive_split_bytes, is_large, now.bytes - counted.bytes);
    }
    const auto restart = [](Stat& stat) { stat = {stat.current, stat.current, stat.current, 0}; };
    for (auto& metric : counters_.stats) {
        for (Stat& stat : metric) {
            restart(stat);
        }
    }
    restart(counters_.oversize_allocations);
    restart(counters_.oversize_segments);
    counters_.num_device_alloc = counters_.num_device_free = 0;
}

}  // namespace tidemark
