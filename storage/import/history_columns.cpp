// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/import/history_columns.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tidemark {

HistoryColumns::HistoryColumns(DeviceHistory& history) : history_(history) {
    history_.event_ref.resize(history_.event_time.size());
}

void HistoryColumns::refer(EventNumber event, Action action, uint32_t index) {
    if (event != before_history) {
        history_.event_ref[static_cast<size_t>(event)] = EventRef(action, index);
    }
}

FoldSink::LifetimeId HistoryColumns::created(const AllocationRow& row) {
    const LifetimeId lifetime = history_.allocations.size();
    history_.allocations.push_back(row.lifetime);
    refer(row.lifetime.alloc_event, Action::alloc, lifetime);
    return lifetime;
}

void HistoryColumns::free_requested(LifetimeId lifetime, EventNumber event, int64_t, StackId stack) {
    history_.allocations.free_event[lifetime] = event;
    history_.allocations.free_stack[lifetime] = stack;
    refer(event, Action::free_requested, lifetime);
}

void HistoryColumns::free_completed(LifetimeId lifetime, uint64_t, EventNumber event, int64_t) {
    history_.allocations.free_completed[lifetime] = event;
    refer(event, Action::free_completed, lifetime);
}

uint32_t HistoryColumns::segment_added(const Segment& segment, int64_t) {
    const auto position = static_cast<uint32_t>(history_.segments.size());
    history_.segments.push_back(segment);
    refer(segment.alloc_event, segment.is_expandable ? Action::segment_map : Action::segment_alloc, position);
    return position;
}

void HistoryColumns::segment_removed(uint32_t position, const SegmentEnd& end) {
    Segment& segment = history_.segments[position];
    segment.free_event = end.event;
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

void HistoryColumns::other_event(const OtherEvent& event, int64_t, uint32_t) {
    refer(event.event, event.action, static_cast<uint32_t>(history_.others.size()));
    history_.others.push_back(event);
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
    // Expandable memory may have been split after the allocation got its segment.
    const auto piece_of = [&](uint64_t address, EventNumber alloc_event) {
        const auto found = std::find_if(expandable.begin(), expandable.end(), [&](uint32_t k) {
            const Segment& s = segments[k];
            return s.address <= address && address < s.address + s.size && s.alloc_event <= alloc_event &&
                   alloc_event < s.free_event;
        });
        return found == expandable.end() ? no_segment : *found;
    };
    Allocations& allocations = history_.allocations;
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        uint32_t& segment = allocations.segment[a];
        segment = segment == no_segment ? no_segment : place[segment];
        if (segment != no_segment && segments[segment].is_expandable) {
            segment = piece_of(allocations.address[a], allocations.alloc_event[a]);
        }
    }
}

}  // namespace tidemark
