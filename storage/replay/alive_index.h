// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds the allocations that are alive at an event without a replay, in O(alive) at any event of any trace.
//
// Allocations are grouped into classes by lifetime (powers of two, in events) and sorted by alloc event within a class.
// A member of class c that is alive at N was allocated in the last 2^(c+1) events, so each class needs one short
// contiguous scan. Lasting allocations, of which a leak has a million, are a class of their own. Those that exist at N
// are its first ones, so that their number and bytes are found without a scan.
//
// Lasting is what is never freed. If more is freed after the last allocation, as a program does before it ends, then
// that is lasting as well, until then: in states after the last allocation, nothing counts as lasting.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

class AliveIndex {
public:
    explicit AliveIndex(const Allocations& allocations);

    /// Visits one state after another. Fastest in ascending order, like the columns of a chart. Each thread needs its
    /// own walk. Must not outlive the index.
    class Walk {
    public:
        explicit Walk(const AliveIndex& index);

        /// Calls visit(AllocationIndex) for every allocation that is active (its free is not completed) in the state at
        /// event n: longest-lived class first, by alloc event within a class. The allocations chart stacks them in this
        /// order, so lasting ones are at the bottom.
        template <class Visit>
        void for_each_active(EventNumber n, Visit&& visit) {
            const uint32_t lasting = index_.lasting_until(n);
            for (uint32_t i = 0; i < lasting; ++i) {
                visit(index_.order_[i]);
            }
            for_each_freed(n, visit);
        }

        /// The same without those that are lasting in that state.
        template <class Visit>
        void for_each_freed(EventNumber n, Visit&& visit) {
            move_to(n);
            for (uint32_t i = 0; n > index_.lasting_end_ && i < index_.lasting_count_; ++i) {
                if (index_.free_completed_[i] >= n) {
                    visit(index_.order_[i]);
                }
            }
            for (size_t c = 0; c < index_.classes_.size(); ++c) {
                const uint32_t end = index_.classes_[c].end;
                for (uint32_t i = first_[c]; i < end && index_.alloc_event_[i] < n; ++i) {
                    if (index_.free_completed_[i] >= n) {
                        visit(index_.order_[i]);
                    }
                }
            }
        }

    private:
        void move_to(EventNumber n);

        const AliveIndex& index_;
        EventNumber last_ = 0;
        std::array<uint32_t, 32> first_{};  ///< by class: the first member that can be alive
    };

    template <class Visit>
    void for_each_active(EventNumber n, Visit&& visit) const {
        Walk(*this).for_each_active(n, visit);
    }

    std::vector<AllocationIndex> active_at(EventNumber n) const;

    /// Returns how many of the lasting allocations exist at event n: the first ones; 0 after lasting_end().
    uint32_t lasting_until(EventNumber n) const;
    /// The last state in which allocations are lasting.
    EventNumber lasting_end() const { return lasting_end_; }
    /// The lasting allocations, ascending.
    AllocationIndex lasting(uint32_t i) const { return order_[i]; }
    uint32_t lasting_count() const { return lasting_count_; }
    /// Returns the bytes of the first `count` of them.
    int64_t lasting_bytes(uint32_t count) const { return lasting_bytes_[count]; }
    /// Returns the first in [begin, end) whose own bytes end above so many bytes of that sum; `end` if none does.
    uint32_t lasting_above(uint32_t begin, uint32_t end, int64_t bytes) const;
    /// Returns the place of an allocation among them; nothing if it is not lasting.
    std::optional<uint32_t> place_in_lasting(AllocationIndex a) const;
    /// Of those with so many requested bytes, by stack: their places, ascending. Built on first use (thread-safe).
    const std::map<StackId, std::vector<uint32_t>>& lasting_of_size(uint64_t requested, const Allocations& all) const;

private:
    using BySize = std::map<uint64_t, std::map<StackId, std::vector<uint32_t>>>;

    struct Class {
        uint32_t begin = 0, end = 0;  ///< range in order_
        EventNumber span = 0;         ///< longest lifetime of a member, in events
    };

    std::vector<Class> classes_;          ///< of the others, longest-lived first
    EventNumber lasting_end_ = never;     ///< lasting allocations are freed later
    uint32_t lasting_count_ = 0;          ///< they are the first in order_
    std::vector<int64_t> lasting_bytes_;  ///< sums: one more than there are
    std::vector<AllocationIndex> order_;
    std::vector<EventNumber> alloc_event_;  ///< in order_'s order: the scan touches contiguous memory
    std::vector<EventNumber> free_completed_;
    mutable std::once_flag by_size_once_;
    mutable BySize by_size_;
};

}  // namespace tidemark
