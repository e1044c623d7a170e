// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The allocations that are active at any point in time, also within repeated steps.
#pragma once

#include <optional>
#include <span>
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

/// Of the lasting allocations, in their order in the AliveIndex, those that are active at a point.
struct LastingActive {
    uint32_t count = 0;                ///< the first so many,
    std::span<const uint32_t> gone{};  ///< but for these, ascending: a repeated step freed memory like theirs
    EventNumber state = 0;
};

/// What is active within one repeated step: the allocations of the step that it repeats, instead of its own, and all
/// that live longer. Their requested bytes are exact; blocks may have had other sizes, and their addresses may overlap.
/// Keeps
/// references to the device and the index.
class RepeatedContent {
public:
    /// Requires a place. Visits the events of the step that is repeated.
    RepeatedContent(const DeviceHistory& device, const AliveIndex& live, const TimePoint& point);

    bool is_of(const TimePoint& point) const;
    LastingActive lasting() const { return {lasting_, gone_, point_.event}; }
    /// Returns what else is active at a place of the step.
    std::vector<ActiveAllocation> freed_at(const RepeatedPlace& place) const;

private:
    /// An allocation of the step that is repeated. What outlives the step has a row of its own.
    struct Made {
        AllocationIndex like;
        ActiveAllocation own;
    };

    void find_freed();
    void find_longer_lived();
    std::optional<uint32_t> lasting_like(AllocationIndex freed) const;
    std::optional<uint32_t> newest(const std::vector<uint32_t>& places, uint32_t end) const;
    void find_made();
    bool is_of_like(AllocationIndex a) const;

    const DeviceHistory& device_;
    const AliveIndex& live_;
    TimePoint point_;
    std::vector<AllocationIndex> freed_;         ///< by the step that is repeated, of what existed before it
    uint32_t lasting_ = 0;                       ///< what exists when the step begins and is lasting: so many,
    std::vector<uint32_t> gone_;                 ///< but for these
    std::vector<AllocationIndex> longer_lived_;  ///< what exists then and is freed later than the step
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
        const LastingActive lasting = lasting_at(point);
        auto gone = lasting.gone.begin();
        for (uint32_t i = 0; i < lasting.count; ++i) {
            if (gone != lasting.gone.end() && *gone == i) {
                ++gone;
            } else {
                visit(ActiveAllocation{live_.lasting(i), lasting.state});
            }
        }
        for_each_freed(point, visit);
    }

    /// Returns the active allocations that are lasting. Valid until the walk goes to another point.
    LastingActive lasting_at(const TimePoint& point) {
        if (is_within_repeated(point)) {
            return content(point).lasting();
        }
        const EventNumber state = state_of(point);
        return {live_.lasting_until(state), {}, state};
    }

    /// Calls visit(ActiveAllocation) for the other active allocations, as for_each_active() does after those.
    template <class Visit>
    void for_each_freed(const TimePoint& point, Visit&& visit) {
        if (is_within_repeated(point)) {
            for (const ActiveAllocation& active : content(point).freed_at(*point.repeated)) {
                visit(active);
            }
            return;
        }
        const EventNumber state = state_of(point);
        walk_.for_each_freed(state, [&](AllocationIndex a) { visit(ActiveAllocation{a, state}); });
    }

    const AliveIndex& index() const { return live_; }

private:
    static bool is_within_repeated(const TimePoint& point) { return point.repeated && !point.repeated->is_at_end(); }
    static EventNumber state_of(const TimePoint& point) { return point.repeated ? point.repeated->after : point.event; }
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
