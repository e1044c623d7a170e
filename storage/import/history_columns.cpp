// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/history_columns.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace tidemark {

HistoryColumns::HistoryColumns(DeviceHistory& history) : history_(history) {
    history_.event_ref.resize(history_.event_time.size());
}

void HistoryColumns::refer(FileEvent event, Action action, uint32_t index) {
    if (event != before_history) {
        history_.event_ref[static_cast<size_t>(event)] = EventRef(action, index);
    }
}

FoldSink::LifetimeId HistoryColumns::created(const AllocationRow& row) {
    const LifetimeId lifetime = history_.allocations.size();
    history_.allocations.push_back(row.lifetime.numbered<EventNumber>());
    refer(row.lifetime.alloc_event, Action::alloc, lifetime);
    return lifetime;
}

void HistoryColumns::free_requested(LifetimeId lifetime, FileEvent event, int64_t, StackId stack) {
    history_.allocations.free_event[lifetime] = event_as<EventNumber>(event);
    history_.allocations.free_stack[lifetime] = stack;
    refer(event, Action::free_requested, lifetime);
}

void HistoryColumns::free_completed(const LiveAllocation& allocation, FileEvent event, int64_t) {
    history_.allocations.free_completed[allocation.id] = event_as<EventNumber>(event);
    refer(event, Action::free_completed, allocation.id);
}

uint32_t HistoryColumns::segment_added(const FileSegment& segment, int64_t) {
    const auto position = static_cast<uint32_t>(history_.segments.size());
    history_.segments.push_back(segment.numbered<EventNumber>());
    refer(segment.alloc_event, segment.is_expandable ? Action::segment_map : Action::segment_alloc, position);
    return position;
}

void HistoryColumns::segment_removed(uint32_t position, const SegmentEnd& end) {
    Segment& segment = history_.segments[position];
    segment.free_event = event_as<EventNumber>(end.event);
    segment.free_stack = end.stack;
    refer(end.event, segment.is_expandable ? Action::segment_unmap : Action::segment_free, position);
}

uint32_t HistoryColumns::cut_segment(uint32_t position, uint64_t address) {
    Segment upper = history_.segments[position];
    const uint64_t lower_size = address - upper.address;
    upper.address = address;
    upper.size -= lower_size;
    history_.segments[position].size = lower_size;
    history_.segments.push_back(upper);
    return static_cast<uint32_t>(history_.segments.size() - 1);
}

void HistoryColumns::other_event(const FileOtherEvent& event, int64_t, uint32_t) {
    refer(event.event, event.action, static_cast<uint32_t>(history_.others.size()));
    history_.others.push_back(event.numbered<EventNumber>());
}

void HistoryColumns::finish() {
    auto& segments = history_.segments;
    std::vector<uint32_t> order(segments.size()), place(segments.size()), expandable;
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return segments[a].alloc_event < segments[b].alloc_event; });
    std::vector<Segment> sorted;
    for (uint32_t k = 0; k < order.size(); ++k) {
        place[order[k]] = k;
        sorted.push_back(segments[order[k]]);
        if (sorted.back().is_expandable) {
            expandable.push_back(k);
        }
    }
    segments = std::move(sorted);
    for (EventRef& ref : history_.event_ref) {
        if (ref.action() >= Action::segment_alloc && ref.action() <= Action::segment_unmap) {
            ref = EventRef(ref.action(), place[ref.index()]);
        }
    }
    settle_expandable(place, expandable);
}

/// Expandable memory may have been split after the allocation got its segment, so each allocation in such memory is
/// looked up among the pieces that exist at its event.
void HistoryColumns::settle_expandable(const std::vector<uint32_t>& place, std::vector<uint32_t> arriving) {
    const auto& segments = history_.segments;
    std::vector<uint32_t> leaving = arriving;
    std::stable_sort(leaving.begin(), leaving.end(),
                     [&](uint32_t a, uint32_t b) { return segments[a].free_event < segments[b].free_event; });
    std::map<uint64_t, uint32_t> present;  // by address
    size_t arrived = 0, left = 0;
    const auto advance_to = [&](EventNumber event) {
        for (; arrived < arriving.size() && segments[arriving[arrived]].alloc_event <= event; ++arrived) {
            const uint32_t piece = arriving[arrived];
            for (; left < leaving.size() && segments[leaving[left]].free_event <= segments[piece].alloc_event; ++left) {
                present.erase(segments[leaving[left]].address);
            }
            present[segments[piece].address] = piece;
        }
        for (; left < leaving.size() && segments[leaving[left]].free_event <= event; ++left) {
            present.erase(segments[leaving[left]].address);
        }
    };
    const auto piece_at = [&](uint64_t address) {
        const auto after = present.upper_bound(address);
        const bool found =
            after != present.begin() && address - std::prev(after)->first < segments[std::prev(after)->second].size;
        return found ? std::prev(after)->second : no_segment;
    };
    Allocations& allocations = history_.allocations;
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        uint32_t& segment = allocations.segment[a];
        segment = segment == no_segment ? no_segment : place[segment];
        if (segment != no_segment && segments[segment].is_expandable) {
            advance_to(allocations.alloc_event[a]);
            segment = piece_at(allocations.address[a]);
        }
    }
}

}  // namespace tidemark
