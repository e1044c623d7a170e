// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/reserved_growth.h"

#include <algorithm>
#include <set>

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 128 << 20;
/// The first iterations of every program leave gaps.
constexpr size_t fewest_iterations = 3;
constexpr int64_t least_fraction = 4;  ///< 1 / 4 of the peak of allocated memory
/// Smaller requests have segments of their own, which take little memory.
constexpr int64_t small_request = 1 << 20;
/// Memory that rises to the end rises in each of them.
constexpr size_t quarters = 4;
constexpr int64_t least_share = 10;  ///< 1 / 10 of the whole rise

}  // namespace

AllocationIndex request_of(const DeviceHistory& device, EventNumber segment_event) {
    const auto is_arrival = [](EventRef ref) {
        return ref.action() == Action::segment_alloc || ref.action() == Action::segment_map;
    };
    auto next = static_cast<size_t>(segment_event) + 1;
    while (next < device.event_ref.size() && is_arrival(device.event_ref[next])) {
        ++next;  // one request can map several pieces
    }
    const bool is_alloc = next < device.event_ref.size() && device.event_ref[next].action() == Action::alloc;
    return is_alloc ? device.event_ref[next].index() : no_allocation;
}

int64_t least_unusable_bytes(int64_t peak) { return std::max(least_bytes, peak / least_fraction); }

std::optional<ReservedGrowth> find_reserved_growth(const AnalysisContext& context) {
    const DeviceHistory& device = context.device();
    ReservedGrowth growth;
    growth.reserved = context.curves().extremes(Series::reserved, 0, context.now()).max;
    growth.allocated = context.curves().extremes(Series::allocated, 0, context.now()).max;
    const int64_t least = least_unusable_bytes(growth.allocated);
    if (growth.reserved - growth.allocated < least) {
        return std::nullopt;
    }
    std::set<int64_t> iterations;
    for (const Segment& segment : device.segments) {
        const EventNumber event = segment.alloc_event;
        const AllocationIndex request = event >= 0 && event < context.now() ? request_of(device, event) : no_allocation;
        if (request == no_allocation) {
            continue;
        }
        const auto bytes = static_cast<int64_t>(device.allocations.block_size[request]);
        const int64_t free =
            context.curves().value(Series::reserved, event) - context.curves().value(Series::allocated, event);
        if (bytes > small_request && free >= bytes) {
            ++growth.segments;
            growth.bytes += static_cast<int64_t>(segment.size);
            growth.by_stack[device.allocations.stack[request]] += static_cast<int64_t>(segment.size);
            growth.last = event;
            growth.request = request;
            growth.free = free;
            iterations.insert(context.iterations().empty() ? event : context.iterations().at(event));
        }
    }
    return growth.bytes >= least && iterations.size() >= fewest_iterations ? std::optional(growth) : std::nullopt;
}

std::optional<ReservedRise> find_reserved_rise(const AnalysisContext& context) {
    const Iterations& iterations = context.iterations();
    if (iterations.size() < 2 * quarters) {
        return std::nullopt;
    }
    const auto reserved_after = [&](size_t position) {
        return context.curves().value(Series::reserved, iterations[position].last);
    };
    const ReservedRise rise{reserved_after(0), reserved_after(iterations.size() - 1)};
    const int64_t total = rise.last - rise.first;
    int64_t before = rise.first;
    for (size_t quarter = 1; quarter <= quarters; ++quarter) {
        const int64_t after = reserved_after(quarter * iterations.size() / quarters - 1);
        if ((after - before) * least_share < total) {
            return std::nullopt;
        }
        before = after;
    }
    return total >= least_unusable_bytes(context.peak().max) ? std::optional(rise) : std::nullopt;
}

}  // namespace tidemark
