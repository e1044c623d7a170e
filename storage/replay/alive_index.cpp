// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/replay/alive_index.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tidemark {

namespace {

/// Returns 0 for allocations that are never freed, then one class per lifetime, from the longest (2^30 events) to the
/// shortest.
size_t class_of(EventNumber alloc_event, EventNumber free_completed) {
    if (free_completed == never) {
        return 0;
    }
    const auto lifetime = static_cast<uint32_t>(std::max<int64_t>(int64_t{free_completed} - alloc_event, 1));
    return static_cast<size_t>(31 - (std::bit_width(lifetime) - 1));
}

EventNumber span_of(size_t which) {
    return which == 0 ? never : static_cast<EventNumber>((int64_t{1} << (32 - which)) - 1);
}

}  // namespace

AliveIndex::AliveIndex(const Allocations& a) {
    std::array<uint32_t, 33> counts{};
    for (uint32_t i = 0; i < a.size(); ++i) {
        ++counts[class_of(a.alloc_event[i], a.free_completed[i])];
    }
    std::array<uint32_t, 33> next{};
    uint32_t begin = 0;
    for (size_t c = 0; c < counts.size(); ++c) {
        next[c] = begin;
        if (counts[c] > 0) {
            classes_.push_back({begin, begin + counts[c], span_of(c)});
        }
        begin += counts[c];
    }
    order_.resize(a.size());
    alloc_event_.resize(a.size());
    free_completed_.resize(a.size());
    for (uint32_t i = 0; i < a.size(); ++i) {
        const uint32_t at = next[class_of(a.alloc_event[i], a.free_completed[i])]++;
        order_[at] = i;
        alloc_event_[at] = a.alloc_event[i];
        free_completed_[at] = a.free_completed[i];
    }
}

AliveIndex::Walk::Walk(const AliveIndex& index) : index_(index) {
    for (size_t c = 0; c < index.classes_.size(); ++c) {
        first_[c] = index.classes_[c].begin;
    }
}

void AliveIndex::Walk::move_to(EventNumber n) {
    for (size_t c = 0; c < index_.classes_.size(); ++c) {
        const Class& members = index_.classes_[c];
        if (n < last_) {
            first_[c] = members.begin;
        }
        if (members.span == never) {
            continue;
        }
        // An allocation that is alive at n has free_completed >= n, so alloc_event >= n - span. Steps double until they
        // overshoot.
        const EventNumber earliest = n - members.span;
        uint32_t from = first_[c], leap = 1;
        while (from + leap < members.end && index_.alloc_event_[from + leap] < earliest) {
            from += leap;
            leap *= 2;
        }
        const auto events = index_.alloc_event_.begin();
        const auto found = std::lower_bound(events + from, events + std::min(from + leap, members.end), earliest);
        first_[c] = static_cast<uint32_t>(found - events);
    }
    last_ = n;
}

std::vector<AllocationIndex> AliveIndex::active_at(EventNumber n) const {
    std::vector<AllocationIndex> result;
    for_each_active(n, [&](AllocationIndex a) { result.push_back(a); });
    return result;
}

}  // namespace tidemark
