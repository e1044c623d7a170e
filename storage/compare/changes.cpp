// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/compare/changes.h"

#include <algorithm>
#include <cstdlib>

#include "storage/replay/active_walk.h"
#include "storage/replay/repeated_step.h"

namespace tidemark {
namespace {

std::vector<AllocationIndex> active_at(const DeviceHistory& device, const AliveIndex& live, const TimePoint& point) {
    std::vector<AllocationIndex> active;
    for (const ActiveAllocation& each : active_allocations(device, live, point)) {
        active.push_back(each.allocation);
    }
    std::sort(active.begin(), active.end());
    return active;
}

/// Sums the allocations of both points by group.
class ChangeCounter {
public:
    ChangeCounter(const Trace& trace, const DeviceHistory& device, GroupBy by, const GroupOptions& options)
        : by_(by), device_(device), grouper_(trace, device, by, options) {}

    void add_begin(const std::vector<AllocationIndex>& active, const std::vector<AllocationIndex>& later,
                   int64_t time) {
        add(active, later, time, &ChangedGroup::begin, &ChangedGroup::freed, [](ChangedGroup&, AllocationIndex) {});
    }
    void add_end(const std::vector<AllocationIndex>& active, const std::vector<AllocationIndex>& earlier,
                 int64_t time) {
        add(active, earlier, time, &ChangedGroup::end, &ChangedGroup::made,
            [](ChangedGroup& group, AllocationIndex a) { group.new_allocations.push_back(a); });
    }

    Changes changes() {
        for (uint32_t group = 0; group < groups_.size(); ++group) {
            groups_[group].name = grouper_.name(group);
        }
        std::stable_sort(groups_.begin(), groups_.end(), [](const ChangedGroup& a, const ChangedGroup& b) {
            return std::llabs(a.difference()) > std::llabs(b.difference());
        });
        return {by_, std::move(groups_), std::move(total_)};
    }

private:
    /// Adds each allocation to `all`, and those that are not active at the other point to `only`, and calls
    /// visit_only(ChangedGroup&, AllocationIndex) for these.
    template <class Visit>
    void add(const std::vector<AllocationIndex>& active, const std::vector<AllocationIndex>& others, int64_t time,
             Amounts ChangedGroup::*all, Amounts ChangedGroup::*only, Visit&& visit_only) {
        grouper_.set_time(time);
        for (const AllocationIndex a : active) {
            const Amounts one{static_cast<int64_t>(device_.allocations.block_size[a]), 1};
            const bool is_only = !std::binary_search(others.begin(), others.end(), a);
            ChangedGroup& group = group_of(a);
            for (ChangedGroup* change : {&group, &total_}) {
                change->*all += one;
                change->*only += is_only ? one : Amounts{};
            }
            if (is_only) {
                visit_only(group, a);
            }
        }
    }

    ChangedGroup& group_of(AllocationIndex a) {
        const uint32_t group = grouper_.group_of(a);
        groups_.resize(std::max<size_t>(groups_.size(), grouper_.group_count()));
        if (by_ == GroupBy::stack) {
            groups_[group].stack = device_.allocations.stack[a];
        }
        return groups_[group];
    }

    const GroupBy by_;
    const DeviceHistory& device_;
    Grouper grouper_;
    std::vector<ChangedGroup> groups_;
    ChangedGroup total_;
};

}  // namespace

Changes changes_between(const Trace& trace, const DeviceHistory& device, const AliveIndex& live, const TimePoint& begin,
                        const TimePoint& end, GroupBy by, const GroupOptions& options) {
    const auto before = active_at(device, live, begin), after = active_at(device, live, end);
    ChangeCounter counter(trace, device, by, options);
    counter.add_begin(before, after, time_of(device, begin));
    counter.add_end(after, before, time_of(device, end));
    return counter.changes();
}

}  // namespace tidemark
