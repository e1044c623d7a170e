// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/intervals.h"

#include <algorithm>

namespace tidemark {
namespace {

/// Less memory that was allocated after the main iterations needs no interval of its own: 1 / 50 of what exists.
constexpr int64_t least_fraction = 50;
constexpr int64_t least_bytes = 1 << 20;

/// Returns the bytes allocated between two states that exist at the second.
int64_t left_of(const DeviceHistory& device, EventNumber from, EventNumber to) {
    const Allocations& allocations = device.allocations;
    const auto& made = allocations.alloc_event;
    int64_t bytes = 0;
    for (auto at = std::lower_bound(made.begin(), made.end(), from); at != made.end() && *at < to; ++at) {
        const auto a = static_cast<size_t>(at - made.begin());
        bytes += allocations.free_event[a] >= to ? static_cast<int64_t>(allocations.block_size[a]) : 0;
    }
    return bytes;
}

/// Returns whether memory that was allocated between two states was freed there. A loop that frees nothing constructs
/// something: a list of results, the parts of a model.
bool frees_some(const DeviceHistory& device, EventNumber from, EventNumber to) {
    const Allocations& allocations = device.allocations;
    const auto& made = allocations.alloc_event;
    const auto first = std::lower_bound(made.begin(), made.end(), from), last = std::lower_bound(first, made.end(), to);
    return std::any_of(allocations.free_event.begin() + (first - made.begin()),
                       allocations.free_event.begin() + (last - made.begin()),
                       [&](EventNumber freed) { return freed < to; });
}

}  // namespace

std::optional<Iterations> loop_after(const Trace& trace, const DeviceHistory& device, const Curves& curves,
                                     const Iterations& main, EventNumber now) {
    const EventNumber end = main.empty() ? now : main.all().back().last;
    const int64_t left = end < now ? left_of(device, end, now) : 0;
    if (left < least_bytes || left * least_fraction < curves.value(Series::allocated, now)) {
        return std::nullopt;
    }
    Iterations after(trace, device, curves, end, now);
    return after.empty() || !frees_some(device, after[0].first, now) ? std::nullopt : std::optional(std::move(after));
}

std::vector<Interval> find_intervals(const Trace& trace, const DeviceHistory& device, const Curves& curves,
                                     Iterations main, EventNumber now) {
    std::vector<Interval> intervals;
    std::optional<Iterations> after = loop_after(trace, device, curves, main, now);
    SurvivingAllocations surviving(trace, device, main, now);
    intervals.push_back({std::move(main), std::move(surviving)});
    if (after) {
        SurvivingAllocations later(trace, device, *after, now);
        intervals.push_back({std::move(*after), std::move(later)});
    }
    return intervals;
}

}  // namespace tidemark
