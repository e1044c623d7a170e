// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/replay/alive_index.h"

#include <algorithm>
#include <array>
#include <bit>

#include "storage/base/in_halves.h"

namespace tidemark {

namespace {

/// Returns the last state in which allocations count as lasting: the one after the last allocation if more of what
/// exists there is freed than not. Otherwise any.
EventNumber end_of_lasting(const Allocations& a) {
    const EventNumber last = a.size() == 0 ? 0 : a.alloc_event[a.size() - 1] + 1;
    int64_t freed_later = 0, never_freed = 0;
    for (const EventNumber freed : a.free_completed) {
        never_freed += freed == never ? 1 : 0;
        freed_later += freed != never && freed >= last ? 1 : 0;
    }
    return freed_later > never_freed ? last : never;
}

/// Returns 0 for lasting allocations, then one class per lifetime, from the longest (2^30 events) to the shortest.
size_t class_of(EventNumber alloc_event, EventNumber free_completed, EventNumber lasting_end) {
    if (free_completed >= lasting_end) {
        return 0;
    }
    const auto lifetime = static_cast<uint32_t>(std::max<int64_t>(int64_t{free_completed} - alloc_event, 1));
    return static_cast<size_t>(31 - (std::bit_width(lifetime) - 1));
}

/// Returns the longest lifetime in a class of allocations that are not lasting.
EventNumber span_of(size_t which) { return static_cast<EventNumber>((int64_t{1} << (32 - which)) - 1); }

}  // namespace

AliveIndex::AliveIndex(const Allocations& a) : lasting_end_(end_of_lasting(a)) {
    // Each half of the allocations is counted and put in place by its own thread.
    using Counts = std::array<uint32_t, 33>;
    const uint32_t middle = a.size() / 2;
    std::array<Counts, 2> counts{};
    const auto in_both_halves = [&](auto&& work) { in_halves(a.size(), work, fewest_rows_to_halve); };
    in_both_halves([&](uint32_t first, uint32_t last) {
        Counts own{};
        for (uint32_t i = first; i < last; ++i) {
            ++own[class_of(a.alloc_event[i], a.free_completed[i], lasting_end_)];
        }
        counts[first < middle ? 0 : 1] = own;
    });
    std::array<Counts, 2> next{};
    uint32_t begin = 0;
    for (size_t c = 0; c < counts[0].size(); ++c) {
        const uint32_t end = begin + counts[0][c] + counts[1][c];
        next[0][c] = begin;
        next[1][c] = begin + counts[0][c];
        if (c == 0) {
            lasting_count_ = end;
        } else if (begin < end) {
            classes_.push_back({begin, end, span_of(c)});
        }
        begin = end;
    }
    order_.resize(a.size());
    alloc_event_.resize(a.size());
    free_completed_.resize(a.size());
    in_both_halves([&](uint32_t first, uint32_t last) {
        Counts own = next[first < middle ? 0 : 1];
        for (uint32_t i = first; i < last; ++i) {
            const uint32_t at = own[class_of(a.alloc_event[i], a.free_completed[i], lasting_end_)]++;
            order_[at] = i;
            alloc_event_[at] = a.alloc_event[i];
            free_completed_[at] = a.free_completed[i];
        }
    });
    lasting_bytes_.reserve(lasting_count_ + size_t{1});
    lasting_bytes_.push_back(0);
    for (uint32_t i = 0; i < lasting_count_; ++i) {
        lasting_bytes_.push_back(lasting_bytes_.back() + static_cast<int64_t>(a.block_size[order_[i]]));
    }
}

uint32_t AliveIndex::lasting_until(EventNumber n) const {
    if (n > lasting_end_) {
        return 0;
    }
    const auto first = alloc_event_.begin();
    return static_cast<uint32_t>(std::lower_bound(first, first + lasting_count_, n) - first);
}

uint32_t AliveIndex::lasting_above(uint32_t begin, uint32_t end, int64_t bytes) const {
    if (begin >= end) {
        return end;
    }
    const auto sums = lasting_bytes_.begin() + 1;  // of each with its own bytes
    return static_cast<uint32_t>(std::upper_bound(sums + begin, sums + end, bytes) - sums);
}

std::optional<uint32_t> AliveIndex::place_in_lasting(AllocationIndex a) const {
    const auto end = order_.begin() + lasting_count_;
    const auto found = std::lower_bound(order_.begin(), end, a);
    return found != end && *found == a ? std::optional(static_cast<uint32_t>(found - order_.begin())) : std::nullopt;
}

const std::map<StackId, std::vector<uint32_t>>& AliveIndex::lasting_of_size(uint64_t requested,
                                                                            const Allocations& all) const {
    std::call_once(by_size_once_, [&] {
        for (uint32_t i = 0; i < lasting_count_; ++i) {
            by_size_[all.requested[order_[i]]][all.stack[order_[i]]].push_back(i);
        }
    });
    static const BySize::mapped_type none;
    const auto found = by_size_.find(requested);
    return found == by_size_.end() ? none : found->second;
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
