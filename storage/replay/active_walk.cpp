// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/replay/active_walk.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tidemark {

RepeatedContent::RepeatedContent(const DeviceHistory& device, const AliveIndex& live, const TimePoint& point)
    : device_(device), live_(live), point_(point) {
    find_freed();
    find_longer_lived();
    find_made();
}

bool RepeatedContent::is_of(const TimePoint& point) const {
    return point.repeated && point.event == point_.event && point.repeated->begin == point_.repeated->begin &&
           point.repeated->after == point_.repeated->after;
}

std::vector<ActiveAllocation> RepeatedContent::freed_at(const RepeatedPlace& place) const {
    const Allocations& all = device_.allocations;
    std::vector<ActiveAllocation> active;
    active.reserve(longer_lived_.size() + freed_.size() + made_.size());
    for (const AllocationIndex a : longer_lived_) {
        active.push_back({a, point_.event});
    }
    for (const AllocationIndex a : freed_) {
        if (all.free_completed[a] >= place.state) {
            active.push_back({a, place.state});
        }
    }
    for (const Made& made : made_) {
        if (all.alloc_event[made.like] < place.state && all.free_completed[made.like] >= place.state) {
            active.push_back(made.own.allocation == no_allocation ? ActiveAllocation{made.like, place.state}
                                                                  : made.own);
        }
    }
    return active;
}

bool RepeatedContent::is_of_like(AllocationIndex a) const {
    const EventNumber event = device_.allocations.alloc_event[a];
    return event >= point_.repeated->begin && event < point_.repeated->end;
}

void RepeatedContent::find_freed() {
    for (EventNumber e = point_.repeated->begin; e < point_.repeated->end; ++e) {
        const EventRef ref = device_.event_ref[static_cast<size_t>(e)];
        const bool is_free = ref.action() == Action::free_requested || ref.action() == Action::free_completed;
        if (is_free && device_.allocations.alloc_event[ref.index()] < point_.repeated->begin) {
            freed_.push_back(ref.index());
        }
    }
    std::sort(freed_.begin(), freed_.end());
    freed_.erase(std::unique(freed_.begin(), freed_.end()), freed_.end());
}

/// Finds what exists when the step begins, except for what it frees. For each allocation that the step that is repeated
/// freed, this one frees one of the same size: from the same stack if possible, and of the step that is repeated if
/// possible, because those rows stay for what replaces them.
void RepeatedContent::find_longer_lived() {
    const Allocations& all = device_.allocations;
    lasting_ = live_.lasting_until(point_.event);
    std::map<uint64_t, std::vector<AllocationIndex>> candidates;  // by requested bytes: blocks may be larger
    for (const AllocationIndex a : freed_) {
        candidates.try_emplace(all.requested[a]);
    }
    std::vector<AllocationIndex> existing;
    AliveIndex::Walk(live_).for_each_freed(point_.event, [&](AllocationIndex a) { existing.push_back(a); });
    for (const AllocationIndex a : existing) {
        if (const auto same_size = candidates.find(all.requested[a]); same_size != candidates.end()) {
            same_size->second.push_back(a);
        }
    }
    std::vector<AllocationIndex> freed_later;
    for (const AllocationIndex a : freed_) {
        const auto rank = [&](AllocationIndex x) { return std::tuple(all.stack[x] == all.stack[a], is_of_like(x), x); };
        auto& same_size = candidates.at(all.requested[a]);
        const auto best = std::max_element(same_size.begin(), same_size.end(),
                                           [&](AllocationIndex x, AllocationIndex y) { return rank(x) < rank(y); });
        const std::optional<uint32_t> lasting = lasting_like(a);
        if (lasting && (best == same_size.end() || rank(*best) < rank(live_.lasting(*lasting)))) {
            gone_.insert(std::lower_bound(gone_.begin(), gone_.end(), *lasting), *lasting);
        } else if (best != same_size.end()) {
            freed_later.push_back(*best);
            same_size.erase(best);
        }
    }
    std::sort(freed_later.begin(), freed_later.end());
    std::copy_if(existing.begin(), existing.end(), std::back_inserter(longer_lived_),
                 [&](AllocationIndex a) { return !std::binary_search(freed_later.begin(), freed_later.end(), a); });
}

/// Returns the place of the best lasting allocation that is not gone yet; nothing if none has the size.
std::optional<uint32_t> RepeatedContent::lasting_like(AllocationIndex freed) const {
    const Allocations& all = device_.allocations;
    const auto& by_stack = live_.lasting_of_size(all.requested[freed], all);
    const auto best_of = [&](const std::vector<uint32_t>& places) {
        const auto of_like = newest(places, std::min(lasting_, live_.lasting_until(point_.repeated->end)));
        return of_like && is_of_like(live_.lasting(*of_like)) ? of_like : newest(places, lasting_);
    };
    if (const auto same = by_stack.find(all.stack[freed]); same != by_stack.end()) {
        if (const auto best = best_of(same->second)) {
            return best;
        }
    }
    const auto rank = [&](uint32_t place) { return std::pair(is_of_like(live_.lasting(place)), place); };
    std::optional<uint32_t> best;
    for (const auto& [stack, places] : by_stack) {
        if (const auto own = best_of(places); own && (!best || rank(*best) < rank(*own))) {
            best = own;
        }
    }
    return best;
}

/// Returns the last of the places below `end` that is not gone.
std::optional<uint32_t> RepeatedContent::newest(const std::vector<uint32_t>& places, uint32_t end) const {
    auto at = std::lower_bound(places.begin(), places.end(), end);
    while (at != places.begin()) {
        if (!std::binary_search(gone_.begin(), gone_.end(), *--at)) {
            return *at;
        }
    }
    return std::nullopt;
}

void RepeatedContent::find_made() {
    const Allocations& all = device_.allocations;
    const auto first_after = [&](EventNumber event) {
        const auto found = std::lower_bound(all.alloc_event.begin(), all.alloc_event.end(), event);
        return static_cast<AllocationIndex>(found - all.alloc_event.begin());
    };
    std::multimap<std::tuple<uint64_t, StackId>, AllocationIndex> own;
    for (AllocationIndex a = first_after(point_.event); a < first_after(point_.repeated->after); ++a) {
        own.emplace(std::tuple(all.requested[a], all.stack[a]), a);
    }
    for (AllocationIndex a = first_after(point_.repeated->begin); a < first_after(point_.repeated->end); ++a) {
        Made made{a, {}};
        const bool outlives = all.free_event[a] >= point_.repeated->end;
        if (const auto found = outlives ? own.find({all.requested[a], all.stack[a]}) : own.end(); found != own.end()) {
            made.own = {found->second, all.alloc_event[found->second] + 1};
            own.erase(found);
        }
        made_.push_back(made);
    }
}

const RepeatedContent& ActiveWalk::content(const TimePoint& point) {
    if (!content_ || !content_->is_of(point)) {
        content_.emplace(device_, live_, point);
    }
    return *content_;
}

EventNumber state_at(const Allocations& all, AllocationIndex a, const TimePoint& point) {
    if (!point.repeated) {
        return point.event;
    }
    const RepeatedPlace& place = *point.repeated;
    const EventNumber made = all.alloc_event[a], freed = all.free_event[a];
    const bool is_own = made >= point.event && made < place.after;
    const bool ends_in_like = made < place.end && freed >= place.begin && freed < place.end;
    return place.is_at_end() || is_own ? place.after : ends_in_like ? place.state : point.event;
}

bool is_active_at(const Allocations& all, AllocationIndex a, const TimePoint& point) {
    const EventNumber state = state_at(all, a, point);
    return all.alloc_event[a] < state && state <= all.free_completed[a];
}

std::vector<ActiveAllocation> active_allocations(const DeviceHistory& device, const AliveIndex& live,
                                                 const TimePoint& point) {
    std::vector<ActiveAllocation> active;
    ActiveWalk(device, live).for_each_active(point, [&](const ActiveAllocation& one) { active.push_back(one); });
    return active;
}

}  // namespace tidemark
