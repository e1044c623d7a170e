// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/whatif/expandable_segments.h"

#include <algorithm>

namespace tidemark {

namespace {

using State = HeapBlock::State;

uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

uint64_t ExpandableSegments::portion(uint32_t arena) {
    return heap_.arena(arena).owner.is_large ? settings_.large_segment : small_segment;
}

uint64_t ExpandableSegments::range_size(uint32_t arena) {
    return round_up(device_bytes_ + device_bytes_ / 8, portion(arena));
}

uint32_t ExpandableSegments::add_range(uint64_t base, uint32_t arena) {
    ranges_.push_back({base, portion(arena)});
    return static_cast<uint32_t>(ranges_.size() - 1);
}

BlockIndex ExpandableSegments::add_empty_range(uint32_t arena) {
    HeapBlock block;
    block.size = range_size(arena);
    block.address = driver_.reserve_addresses(block.size, heap_.arena(arena).owner);
    block.arena = arena;
    block.range = add_range(block.address, arena);
    block.state = State::unmapped;
    const BlockIndex b = heap_.add(block);
    heap_.file(b);
    return b;
}

bool ExpandableSegments::has_room(BlockIndex b, uint64_t size) const {
    uint64_t room = 0;
    for (; room < size && b != no_block && heap_[b].is_available(); b = heap_[b].next) {
        room += heap_[b].size;
    }
    return room >= size;
}

/// Finds the lowest place with room for `size` bytes, part of it unmapped. Returns the unmapped block, or a free block
/// right before it.
BlockIndex ExpandableSegments::find_room(uint32_t arena, uint64_t size) {
    for (const auto& [address, unmapped] : heap_.arena(arena).unmapped) {
        const BlockIndex before = heap_[unmapped].prev;
        const BlockIndex b = before != no_block && heap_[before].is_available() ? before : unmapped;
        if (has_room(b, size)) {
            return b;
        }
    }
    return add_empty_range(arena);
}

BlockIndex ExpandableSegments::grow(uint32_t arena, uint64_t size) {
    if (size > range_size(arena)) {
        return no_block;
    }
    BlockIndex b = find_room(arena, size);
    if (heap_[b].state == State::unmapped && !map(b, std::min(heap_[b].size, size))) {
        return no_block;
    }
    while (heap_[b].size < size) {
        const BlockIndex next = heap_[b].next;
        if (!map(next, std::min(heap_[next].size, size - heap_[b].size))) {
            return no_block;
        }
        b = next;  // it absorbed the free memory before it
    }
    heap_.unfile(b);
    return b;
}

bool ExpandableSegments::map(BlockIndex b, uint64_t size) {
    const uint64_t bytes = round_up(size, ranges_[heap_[b].range].portion);
    if (!driver_.map(heap_[b].address, bytes)) {
        return false;
    }
    heap_.unfile(b);
    if (bytes < heap_[b].size) {
        heap_.file(heap_.cut(b, bytes));
    }
    heap_[b].state = State::free;
    heap_.merge(b);
    heap_.file(b);
    mapped_bytes += static_cast<int64_t>(bytes);
    ++mappings;
    return true;
}

uint64_t ExpandableSegments::shrink(BlockIndex b) {
    const Range& range = ranges_[heap_[b].range];
    const uint64_t address = heap_[b].address, end = address + heap_[b].size;
    const uint64_t first = range.base + round_up(address - range.base, range.portion);
    const uint64_t last = range.base + (end - range.base) / range.portion * range.portion;
    if (first >= last) {
        return 0;
    }
    heap_.unfile(b);
    if (last < end) {
        heap_.file(heap_.cut(b, last - address));
    }
    if (address < first) {
        const BlockIndex upper = heap_.cut(b, first - address);
        heap_.file(b);
        b = upper;
    }
    heap_[b].state = State::unmapped;
    heap_.merge(b);
    heap_.file(b);
    driver_.unmap(first, last - first);
    drop_if_empty(b);
    return last - first;
}

void ExpandableSegments::drop_if_empty(BlockIndex b) {
    if (!heap_[b].is_split()) {
        heap_.unfile(b);
        heap_.drop(b);
    }
}

}  // namespace tidemark
