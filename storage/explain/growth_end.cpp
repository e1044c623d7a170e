// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/growth_end.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace tidemark {
namespace {

/// A phase is about as high as an earlier one at 4 / 5 of it, and took about as long at a quarter of the time.
constexpr int64_t height_of_phase = 5, least_height = 4, least_time = 4;

/// Fewer allocations show no limit of their number.
constexpr size_t fewest_to_count = 9;

/// Memory of a site that is freed before an event, at the state in which it is highest.
struct Peak {
    int64_t bytes = 0;
    int64_t duration = 0;  ///< ns since the oldest allocation of it
};

Peak peak_of_freed(const std::vector<AllocationIndex>& freed, const DeviceHistory& device) {
    const Allocations& allocations = device.allocations;
    std::map<EventNumber, int64_t> changes;
    for (const AllocationIndex a : freed) {
        const auto bytes = static_cast<int64_t>(allocations.block_size[a]);
        changes[allocations.alloc_event[a]] += bytes;
        changes[allocations.free_event[a]] -= bytes;
    }
    Peak peak;
    EventNumber highest_at = 0;
    int64_t bytes = 0;
    for (const auto& [event, change] : changes) {
        bytes += change;
        highest_at = bytes > peak.bytes ? event : highest_at;
        peak.bytes = std::max(peak.bytes, bytes);
    }
    const auto oldest = std::find_if(freed.begin(), freed.end(),
                                     [&](AllocationIndex a) { return allocations.free_event[a] > highest_at; });
    if (oldest != freed.end()) {
        peak.duration = device.time_of_state(highest_at + 1) - device.alloc_time(*oldest);
    }
    return peak;
}

/// Returns whether two sites lie in one function and allocate blocks of one size.
bool are_of_one_function(const Site& a, const Site& b, const Trace& trace) {
    const FrameId frame_of_a = trace.stacks.site(a.stack), frame_of_b = trace.stacks.site(b.stack);
    const Frame &one = trace.stacks.frame(frame_of_a), &other = trace.stacks.frame(frame_of_b);
    return frame_of_a != 0 && frame_of_b != 0 && one.function == other.function && one.file == other.file &&
           a.total_bytes / a.total_count == b.total_bytes / b.total_count;
}

}  // namespace

bool has_stopped(const Site& site, const DeviceHistory& device, const Iterations& iterations, EventNumber now) {
    constexpr int64_t longer = 2, least_part = 10, least_part_of_last = 4, least_part_after = 2;
    int64_t longest = 0, last = device.alloc_time(site.now.front());
    const int64_t first = last;
    for (const AllocationIndex a : site.now) {
        const int64_t time = device.alloc_time(a);
        longest = std::max(longest, time - last);
        last = time;
    }
    const auto& made = device.allocations.alloc_event;
    const Iteration& last_iteration = iterations.all().back();
    const int64_t since = device.time_of_state(last_iteration.last) - last;
    // Of a loop that was found from stacks, the last iteration contains what the program does after it.
    const bool grows_in_last = made[site.now.back()] >= last_iteration.first;
    if (since > longer * longest && since * (grows_in_last ? least_part_of_last : least_part) > last - first) {
        return true;
    }
    const int64_t events = made[site.now.back()] - made[site.now.front()], later = now - made[site.now.back()];
    const int64_t to_now = device.time_of_state(now) - last;
    return to_now > longer * longest && to_now * least_part_after > last - first && later * least_part > events;
}

bool is_phase_that_repeats(const Site& site, const DeviceHistory& device, const Trace& trace, EventNumber begin,
                           EventNumber now) {
    const Allocations& allocations = device.allocations;
    const auto& made = allocations.alloc_event;
    std::vector<AllocationIndex> freed = allocations_of(site, trace, device);
    std::erase_if(freed, [&](AllocationIndex a) { return allocations.free_event[a] >= begin; });
    int64_t grown = 0;
    for (const AllocationIndex a : site.now) {
        grown += made[a] >= begin ? static_cast<int64_t>(allocations.block_size[a]) : 0;
    }
    const Peak before = peak_of_freed(freed, device);
    const int64_t duration = device.time_of_state(now) - device.time_of_state(begin);
    return grown > 0 && before.bytes * height_of_phase >= grown * least_height &&
           before.duration * least_time >= duration;
}

bool keeps_its_number(const Site& site, const DeviceHistory& device, const Trace& trace, const Iterations& iterations) {
    const auto &made = device.allocations.alloc_event, &freed = device.allocations.free_event;
    std::vector<AllocationIndex> all = allocations_of(site, trace, device);
    std::erase_if(
        all, [&](AllocationIndex a) { return freed[a] != never && iterations.at(made[a]) == iterations.at(freed[a]); });
    if (all.size() < fewest_to_count) {
        return false;
    }
    std::multiset<EventNumber> ends;  ///< of those that exist
    size_t most_before = 0, most_later = 0;
    for (size_t i = 0; i < all.size(); ++i) {
        ends.erase(ends.begin(), ends.lower_bound(made[all[i]]));
        ends.insert(freed[all[i]]);
        size_t& most = 3 * i < 2 * all.size() ? most_before : most_later;
        most = std::max(most, ends.size());
    }
    return most_later <= most_before;
}

bool replaces_others(const Site& site, const std::vector<Site>& all, const Trace& trace) {
    std::vector<int64_t> total = site.level;
    bool is_other_falling = false;
    for (const Site& other : all) {
        if (&other == &site || other.level.empty() || !are_of_one_function(site, other, trace)) {
            continue;
        }
        is_other_falling |= 2 * (other.level[site.trend.since] - other.level.back()) >= site.trend.rise;
        std::transform(total.begin(), total.end(), other.level.begin(), total.begin(), std::plus<>());
    }
    return is_other_falling && find_trend(total).shape != Shape::rising;
}

}  // namespace tidemark
