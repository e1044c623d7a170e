// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The allocations that are active at any point in time, also within repeated steps.
#pragma once

#include <optional>
#include <vector>

#include "storage/replay/alive_index.h"
#include "storage/replay/time_point.h"

namespace tidemark {

/// An allocation that is active at a point in time, in the state in which the trace has it.
struct ActiveAllocation {
    AllocationIndex allocation = no_allocation;
    EventNumber state = 0;

    bool is_pending(const Allocations& all) const { return all.free_event[allocation] < state; }
};

/// What is active within one repeated step: the allocations of the step that it repeats, instead of its own, and all
/// that live longer. Their requested bytes are exact; blocks may have had other sizes, and their addresses may overlap.
/// Keeps a reference to the device.
class RepeatedContent {
public:
    /// Requires a place. Visits the events of the step that is repeated.
    RepeatedContent(const DeviceHistory& device, const AliveIndex& live, const TimePoint& point);

    bool is_of(const TimePoint& point) const;
    /// Returns what is active at a place of the step.
    std::vector<ActiveAllocation> at(const RepeatedPlace& place) const;

private:
    /// An allocation of the step that is repeated. What outlives the step has a row of its own.
    struct Made {
        AllocationIndex like;
        ActiveAllocation own;
    };

    void find_freed();
    void find_longer_lived(const AliveIndex& live);
    void find_made();
    bool is_of_like(AllocationIndex a) const;

    const DeviceHistory& device_;
    TimePoint point_;
    std::vector<AllocationIndex> freed_;  ///< by the step that is repeated, of what existed before it
    std::vector<AllocationIndex> longer_lived_;
    std::vector<Made> made_;
};

/// Visits one point after another. Each thread needs its own walk. Must not outlive the device and the index.
class ActiveWalk {
public:
    ActiveWalk(const DeviceHistory& device, const AliveIndex& live) : device_(device), live_(live), walk_(live) {}

    /// Calls visit(ActiveAllocation) for every allocation that is active at a point: what lives longer first, as in
    /// AliveIndex::Walk.
    template <class Visit>
    void for_each_active(const TimePoint& point, Visit&& visit) {
        if (point.repeated && !point.repeated->is_at_end()) {
            for (const ActiveAllocation& active : content(point).at(*point.repeated)) {
                visit(active);
            }
            return;
        }
        const EventNumber state = point.repeated ? point.repeated->after : point.event;
        walk_.for_each_active(state, [&](AllocationIndex a) { visit(ActiveAllocation{a, state}); });
    }

private:
    const RepeatedContent& content(const TimePoint& point);

    const DeviceHistory& device_;
    const AliveIndex& live_;
    AliveIndex::Walk walk_;
    std::optional<RepeatedContent> content_;
};

/// Returns the state in which an allocation is as it is at a point.
EventNumber state_at(const Allocations& all, AllocationIndex a, const TimePoint& point);
/// Returns whether an allocation is active at a point.
bool is_active_at(const Allocations& all, AllocationIndex a, const TimePoint& point);

std::vector<ActiveAllocation> active_allocations(const DeviceHistory& device, const AliveIndex& live,
                                                 const TimePoint& point);

}  // namespace tidemark
