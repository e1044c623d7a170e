// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/breakdown/segment_walk.h"

#include <algorithm>
#include <numeric>

namespace tidemark {

SegmentWalk::SegmentWalk(const Trace& trace, const DeviceHistory& device) : trace_(trace), device_(device) {
    const auto& segments = device.segments;
    by_free_event_.resize(segments.size());
    std::iota(by_free_event_.begin(), by_free_event_.end(), 0);
    std::stable_sort(by_free_event_.begin(), by_free_event_.end(),
                     [&](uint32_t a, uint32_t b) { return segments[a].free_event < segments[b].free_event; });
    while (next_piece_ < segments.size() && segments[next_piece_].alloc_event == before_history) {
        add_piece(static_cast<uint32_t>(next_piece_++));
    }
    const Allocations& all = device.allocations;
    for (AllocationIndex a = 0; a < all.size() && all.alloc_event[a] == before_history; ++a) {
        if (all.free_completed[a] != before_history) {
            add_block(a);
        }
    }
}

void SegmentWalk::apply(EventNumber event) {
    const auto& segments = device_.segments;
    for (; next_piece_ < segments.size() && segments[next_piece_].alloc_event <= event; ++next_piece_) {
        add_piece(static_cast<uint32_t>(next_piece_));
    }
    for (; next_freed_ < segments.size() && segments[by_free_event_[next_freed_]].free_event <= event; ++next_freed_) {
        remove_piece(by_free_event_[next_freed_]);
    }
    const EventRef ref = device_.event_ref[static_cast<size_t>(event)];
    switch (ref.action()) {
        case Action::alloc: return add_block(ref.index());
        case Action::free_requested:
        case Action::free_completed:
            return device_.allocations.free_completed[ref.index()] == event ? remove_block(ref.index()) : void();
        default: return;
    }
}

void SegmentWalk::add_piece(uint32_t piece) {
    const Segment& s = device_.segments[piece];
    Run run{s.address + s.size, 0, piece};
    uint64_t start = s.address;
    if (s.is_expandable) {
        const auto after = runs_.find(run.end);
        if (after != runs_.end() && join(after->second, run)) {
            const Run taken = take(after);
            run.end = taken.end;
            run.used += taken.used;
        }
        const auto before = find(s.address - 1);
        if (before != runs_.end() && before->second.end == s.address && join(before->second, run)) {
            start = before->first;
            run.used += take(before).used;
        }
    }
    sums_.reserved += static_cast<int64_t>(s.size);
    put(start, run);
}

void SegmentWalk::remove_piece(uint32_t piece) {
    const Segment& s = device_.segments[piece];
    sums_.reserved -= static_cast<int64_t>(s.size);
    const auto at = find(s.address);
    if (at == runs_.end()) {
        return;
    }
    const uint64_t start = at->first, end = s.address + s.size;
    const Run run = take(at);
    if (s.address > start) {
        put(start, {s.address, used_between(start, s.address), run.piece});
    }
    if (run.end > end) {
        put(end, {run.end, used_between(end, run.end), run.piece});
    }
}

/// Adds a run. Segments of corrupt traces may overlap; an existing run at this address is removed.
void SegmentWalk::put(uint64_t address, const Run& run) {
    if (const auto old = runs_.find(address); old != runs_.end()) {
        take(old);
    }
    count(*runs_.emplace(address, run).first, 1);
}

SegmentWalk::Run SegmentWalk::take(Runs::iterator at) {
    count(*at, -1);
    const Run run = at->second;
    runs_.erase(at);
    return run;
}

void SegmentWalk::add_block(AllocationIndex a) {
    const uint64_t address = device_.allocations.address[a], size = device_.allocations.block_size[a];
    const auto at = find(address);
    if (at == runs_.end()) {
        return;
    }
    if (device_.segments[at->second.piece].is_expandable) {
        expandable_blocks_[address] = size;
    }
    count(*at, -1);
    at->second.used += size;
    count(*at, 1);
}

void SegmentWalk::remove_block(AllocationIndex a) {
    const uint64_t address = device_.allocations.address[a], size = device_.allocations.block_size[a];
    expandable_blocks_.erase(address);
    const auto at = find(address);
    if (at == runs_.end()) {
        return;
    }
    count(*at, -1);
    at->second.used -= std::min(size, at->second.used);
    count(*at, 1);
}

SegmentWalk::Runs::iterator SegmentWalk::find(uint64_t address) {
    auto at = runs_.upper_bound(address);
    if (at == runs_.begin() || (--at)->second.end <= address) {
        return runs_.end();
    }
    return at;
}

bool SegmentWalk::join(const Run& a, const Run& b) const {
    const Segment& x = device_.segments[a.piece];
    const Segment& y = device_.segments[b.piece];
    return x.is_expandable && y.is_expandable && x.stream == y.stream && x.pool == y.pool && x.is_large == y.is_large;
}

uint64_t SegmentWalk::used_between(uint64_t from, uint64_t to) const {
    uint64_t used = 0;
    for (auto block = expandable_blocks_.lower_bound(from); block != expandable_blocks_.end() && block->first < to;
         ++block) {
        used += block->second;
    }
    return used;
}

void SegmentWalk::count(const Runs::value_type& run, int64_t sign) {
    const uint64_t size = run.second.end - run.first, used = run.second.used;
    const auto free = static_cast<int64_t>(size - std::min(used, size));
    const Segment& piece = device_.segments[run.second.piece];
    const Pool& pool = trace_.pools[piece.pool];
    if (piece.pool_known && (pool.owner[0] != 0 || pool.owner[1] != 0)) {
        sums_.private_free += sign * free;
        sums_.private_segments += free > 0 ? sign : 0;
    } else if (used == 0) {
        sums_.cached += sign * free;
        sums_.cached_segments += sign;
    } else if (free > 0) {
        sums_.partial_segments += sign;
    }
}

}  // namespace tidemark
