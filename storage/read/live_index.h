// Which allocations are alive at an event, answered without replaying: O(live) at any moment of any trace.
//
// Allocations are sorted into classes by lifetime (powers of two, in events); within a class by alloc event.
// Whoever of class c is alive at N was allocated in the last 2^(c+1) events, so each class contributes one
// short contiguous scan.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/read/trace.h"

namespace tidemark {

class LiveIndex {
public:
    explicit LiveIndex(const Allocations& allocations);

    /// Calls visit(AllocationIndex) for every allocation that is active (not free-completed) in the state at
    /// event N: longest-lived class first, within a class by alloc event. That order is the stacking order of
    /// the allocations picture: what never dies lies at the bottom.
    template <class Visit>
    void for_each_active(EventNumber n, Visit&& visit) const {
        for (const Class& c : classes_) {
            // Alive at N means done_event >= N, so alloc_event >= N - span.
            const uint32_t begin = c.span == never ? c.begin : first_from(c, n - c.span);
            for (uint32_t i = begin; i < c.end; ++i) {
                if (alloc_event_[i] >= n) {
                    break;
                }
                if (done_event_[i] >= n) {
                    visit(order_[i]);
                }
            }
        }
    }

    std::vector<AllocationIndex> active_at(EventNumber n) const;

private:
    struct Class {
        uint32_t begin = 0, end = 0;  ///< range in order_
        EventNumber span = never;     ///< no member lives longer than this many events
    };
    /// First position in c whose alloc event is `event` or later.
    uint32_t first_from(const Class& c, EventNumber event) const;

    std::vector<Class> classes_;  ///< longest-lived first
    std::vector<AllocationIndex> order_;
    std::vector<EventNumber> alloc_event_;  ///< in order_'s order: the scan touches contiguous memory
    std::vector<EventNumber> done_event_;
};

}  // namespace tidemark
