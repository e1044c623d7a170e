// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/replay/memory_state.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "storage/replay/block_places.h"

namespace tidemark {

namespace {

std::vector<SegmentState> segments_alive(const DeviceHistory& device, EventNumber n) {
    std::vector<uint32_t> alive;
    for (uint32_t s = 0; s < device.segments.size(); ++s) {
        if (device.segments[s].alloc_event >= n) {
            break;
        }
        if (device.segments[s].alive_at(n)) {
            alive.push_back(s);
        }
    }
    std::sort(alive.begin(), alive.end(),
              [&](uint32_t a, uint32_t b) { return device.segments[a].address < device.segments[b].address; });
    std::vector<SegmentState> result;
    for (uint32_t s : alive) {
        const Segment& piece = device.segments[s];
        if (!result.empty()) {
            SegmentState& last = result.back();
            const Segment& before = device.segments[last.segment];
            if (piece.is_expandable && before.is_expandable && last.address + last.size == piece.address &&
                before.stream == piece.stream && before.pool == piece.pool && before.is_large == piece.is_large) {
                last.size += piece.size;
                continue;
            }
        }
        SegmentState state;
        state.segment = s;
        state.address = piece.address;
        state.size = piece.size;
        result.push_back(std::move(state));
    }
    return result;
}

/// Adds the active blocks of a segment (sorted by address) and free blocks between them.
void fill_segment(SegmentState& segment, std::span<const PlacedBlock> active) {
    uint64_t at = segment.address;
    const uint64_t end = segment.address + segment.size;
    for (const PlacedBlock& block : active) {
        const uint64_t start = std::max(block.address, at);
        const uint64_t stop = std::min(block.address + block.size, end);
        if (start >= stop) {
            continue;
        }
        if (start > at) {
            segment.blocks.push_back({at, start - at, BlockState::inactive, no_allocation});
        }
        segment.blocks.push_back({start, stop - start,
                                  block.is_pending ? BlockState::pending_free : BlockState::allocated,
                                  block.allocation});
        (block.is_pending ? segment.pending : segment.allocated) += stop - start;
        segment.requested += std::min(block.requested, stop - start);
        at = stop;
    }
    if (at < end) {
        segment.blocks.push_back({at, end - at, BlockState::inactive, no_allocation});
    }
}

std::vector<SegmentRange> ranges_of(const std::vector<SegmentState>& segments) {
    std::vector<SegmentRange> ranges;
    std::transform(segments.begin(), segments.end(), std::back_inserter(ranges), [](const SegmentState& segment) {
        return SegmentRange{segment.address, segment.size, segment.segment};
    });
    return ranges;
}

void add_figures(MemoryState& state, const SegmentState& segment) {
    state.reserved += segment.size;
    state.allocated += segment.allocated;
    state.pending += segment.pending;
    state.requested += segment.requested;
    if (segment.cached()) {
        state.free_in_cached_segments += segment.size;
        return;
    }
    for (const Block& block : segment.blocks) {
        if (block.state == BlockState::inactive) {
            state.free_in_gaps += block.size;
            state.gaps += 1;
            state.largest_gap = std::max(state.largest_gap, block.size);
        }
    }
}

}  // namespace

MemoryState memory_state(const DeviceHistory& device, const AliveIndex& live, TimePoint point) {
    MemoryState state;
    point.event = std::clamp(point.event, 0, device.event_count());
    state.point = point;
    state.segments = segments_alive(device, point.event);
    const std::vector<PlacedBlock> blocks = placed_blocks(device, live, point, ranges_of(state.segments));
    size_t next = 0;
    for (SegmentState& segment : state.segments) {
        while (next < blocks.size() && blocks[next].address < segment.address) {
            ++next;
        }
        const size_t first = next;
        while (next < blocks.size() && blocks[next].address < segment.address + segment.size) {
            ++next;
        }
        fill_segment(segment, std::span(blocks).subspan(first, next - first));
        add_figures(state, segment);
    }
    std::stable_sort(state.segments.begin(), state.segments.end(), [&](const auto& a, const auto& b) {
        const Segment& x = device.segments[a.segment];
        const Segment& y = device.segments[b.segment];
        return std::tie(x.pool, x.stream) < std::tie(y.pool, y.stream);
    });
    return state;
}

std::vector<AllocationIndex> owners_of_address(const DeviceHistory& device, uint64_t address) {
    const Allocations& a = device.allocations;
    std::vector<AllocationIndex> owners;
    for (AllocationIndex i = 0; i < a.size(); ++i) {
        if (a.address[i] <= address && address - a.address[i] < a.block_size[i]) {
            owners.push_back(i);
        }
    }
    return owners;
}

}  // namespace tidemark
