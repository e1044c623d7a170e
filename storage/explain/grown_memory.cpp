// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/grown_memory.h"

#include <algorithm>
#include <cmath>

#include "storage/explain/analysis_context.h"
#include "storage/explain/grown_part.h"

namespace tidemark {
namespace {

/// Returns whether an allocation of a site belongs to the suspect. A workspace of the first pass does not belong. A
/// heap scan cannot find allocations made around it or later, so they count like earlier ones.
bool belongs(const LeakSuspect& suspect, const GraphContext& graph, AllocationRef allocation, EventNumber sure_before) {
    if (graph.categories.at(allocation, graph.state.time()) == Category::workspace) {
        return false;
    }
    const EventNumber made = graph.index.trace().devices[allocation.device].allocations.alloc_event[allocation.index];
    return !suspect.referrer || suspect.has_unknown_parts || suspect.is_model || made >= sure_before ||
           graph.referrers.in_python(allocation) || !graph.state.retainers(allocation).empty();
}

/// Returns the state before which the heap scan could find allocations: one iteration before the scan.
EventNumber scanned_before(const GraphContext& graph, const Iterations& iterations, const DeviceHistory& device) {
    if (!graph.referrers.scan() || iterations.empty()) {
        return 0;
    }
    const int64_t iteration = iterations.at(device.events_until(graph.referrers.scan()->time)) - 1;
    return iteration < 0 ? 0 : iterations[std::min(static_cast<size_t>(iteration), iterations.size() - 1)].first;
}

/// Returns the state after the site's newest allocation whose referrer was found. A scan that was requested for growing
/// sites looks for the memory that existed at the request, not at the scan.
EventNumber after_last_found(const Site& site, const GraphContext& graph, const DeviceHistory& device,
                             uint32_t position) {
    const auto last = std::find_if(site.now.rbegin(), site.now.rend(), [&](AllocationIndex a) {
        return graph.referrers.in_python(AllocationRef{position, a}) || !graph.state.retainers({position, a}).empty();
    });
    return last == site.now.rend() ? never : device.allocations.alloc_event[*last] + 1;
}

/// Recognizes work in progress: allocated in the last iteration, and freed long before the remaining memory of earlier
/// iterations.
class WorkInProgress {
public:
    WorkInProgress(const Site& site, const Iterations& iterations, const Allocations& allocations)
        : allocations_(allocations), begin_(iterations.empty() ? never : iterations.all().back().first) {
        for (const AllocationIndex a : site.now) {
            left_ = allocations.alloc_event[a] < begin_ ? allocations.free_event[a] : left_;
        }
        // A container that is destroyed frees all its contents within a few events.
        at_once_ = std::max<int64_t>(16, 4 * site.count);
    }

    bool has(AllocationIndex a) const {
        const EventNumber freed = allocations_.free_event[a];
        return allocations_.alloc_event[a] >= begin_ && freed != never && int64_t{left_} - freed > at_once_;
    }

private:
    const Allocations& allocations_;
    EventNumber begin_;     ///< of the last iteration
    EventNumber left_ = 0;  ///< state in which the newest allocation of the earlier iterations is freed
    int64_t at_once_ = 0;
};

/// Returns the site's memory at the context's time point that was made since a state. A site lists only some of many
/// allocations.
std::vector<AllocationIndex> made_since(const Site& site, EventNumber begin, const Trace& trace, uint32_t position,
                                        EventNumber now) {
    const DeviceHistory& device = trace.devices[position];
    const Allocations& all = device.allocations;
    const bool is_complete = site.count == static_cast<int64_t>(site.now.size());
    std::vector<AllocationIndex> made = is_complete ? site.now : allocations_of(site, trace, device);
    std::erase_if(made, [&](AllocationIndex a) {
        return all.alloc_event[a] < begin || all.alloc_event[a] >= now || all.free_event[a] < now;
    });
    return made;
}

/// Returns whether the memory is about as much as the site's level rose: then it is what has grown.
bool is_the_rise(const GrownMemory& made, const Site& site) {
    constexpr double tolerance = 0.1;
    const double rise = site.trend.per_iteration * static_cast<double>(site.level.size());
    return std::abs(static_cast<double>(made.bytes) - rise) <= tolerance * rise;
}

/// Removes what was made before a state.
void keep_since(GrownMemory& made, EventNumber begin, const Allocations& all) {
    std::erase_if(made.allocations, [&](AllocationIndex a) { return all.alloc_event[a] < begin; });
    made.count = static_cast<int64_t>(made.allocations.size());
    made.bytes = 0;
    for (const AllocationIndex a : made.allocations) {
        made.bytes += static_cast<int64_t>(all.block_size[a]);
    }
}

/// Returns what was made since the growth began if that is the rise, or else as much of it as the level rose. The first
/// iteration of the growth may also have made what stays for another reason.
GrownMemory grown_by_level(const Site& site, const Iteration& first, const Trace& trace, uint32_t position,
                           EventNumber now) {
    const Allocations& all = trace.devices[position].allocations;
    GrownMemory made{0, 0, made_since(site, first.first, trace, position, now)};
    keep_since(made, first.first, all);
    if (is_the_rise(made, site)) {
        return made;
    }
    GrownMemory later = made;
    keep_since(later, first.last, all);
    if (is_the_rise(later, site)) {
        return later;
    }
    made.bytes =
        std::min<int64_t>(site.bytes, std::llround(site.trend.per_iteration * static_cast<double>(site.level.size())));
    made.count = std::llround(static_cast<double>(site.count) * static_cast<double>(made.bytes) /
                              static_cast<double>(site.bytes));
    return made;
}

}  // namespace

GrownMemory grown_at(const Site& site, const LeakSuspect& suspect, const Iterations& iterations,
                     const GraphContext* graph, const Trace& trace, uint32_t position, EventNumber now) {
    const DeviceHistory& device = trace.devices[position];
    GrownMemory grown;
    if (graph && site.count == static_cast<int64_t>(site.now.size())) {
        const EventNumber sure_before =
            std::min(scanned_before(*graph, iterations, device), after_last_found(site, *graph, device, position));
        const WorkInProgress in_progress(site, iterations, device.allocations);
        std::vector<AllocationIndex> memory = site.now;
        std::erase_if(memory, [&](AllocationIndex a) {
            return !belongs(suspect, *graph, {position, a}, sure_before) || in_progress.has(a);
        });
        const GrownPart part = grown_part(site, memory, iterations, device, suspect.since);
        for (const AllocationIndex a : memory) {
            if (device.allocations.alloc_event[a] >= part.begin) {
                grown.bytes += static_cast<int64_t>(device.allocations.block_size[a]);
                grown.allocations.push_back(a);
            }
        }
        grown.count = std::llround(static_cast<double>(grown.allocations.size()) * part.share);
        grown.bytes = std::llround(static_cast<double>(grown.bytes) * part.share);
        return grown;
    }
    return grown_by_level(site, iterations[suspect.since], trace, position, now);
}

}  // namespace tidemark
