// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/oom/error_outcome.h"

#include <algorithm>

namespace tidemark {
namespace {

/// One iteration may still end on its way out of the program.
constexpr size_t fewest_iterations = 3;
/// Without iterations: the work after the error has at least so many events, at least this part of the events before
/// it, and reaches this part of the peak before it.
constexpr EventNumber fewest_events = 1000;
constexpr int64_t least_part = 2;

bool goes_on_without_iterations(const DeviceHistory& device, const Curves& curves, EventNumber error) {
    const EventNumber after = device.event_count() - error;
    if (after < fewest_events || after * least_part < error) {
        return false;
    }
    return curves.extremes(Series::allocated, error, device.event_count()).max * least_part >=
           curves.extremes(Series::allocated, 0, error).max;
}

/// Returns whether an out-of-memory error is known to have ended the program, in whatever thread.
bool ended_program(const Trace& trace) {
    return std::any_of(trace.processes.begin(), trace.processes.end(), [](const Process& process) {
        return process.how_ended == ProcessEnd::exception &&
               process.how_ended.text.find("OutOfMemoryError") != std::string::npos;
    });
}

}  // namespace

size_t iterations_after(const Iterations& iterations, EventNumber event) {
    return static_cast<size_t>(std::count_if(iterations.all().begin(), iterations.all().end(),
                                             [&](const Iteration& iteration) { return iteration.first >= event; }));
}

bool is_workspace_request(const Trace& trace, const OtherEvent& oom) {
    return trace.origins[oom.origin].op.find("conv") != std::string::npos;
}

OomErrors find_oom_errors(const Trace& trace, const DeviceHistory& device, const Curves& curves,
                          const Iterations& iterations, EventNumber until) {
    std::vector<const OtherEvent*> all;
    for (const OtherEvent& event : device.others) {
        if (event.action == Action::oom && event.event < until) {
            all.push_back(&event);
        }
    }
    if (all.empty()) {
        return {};
    }
    const EventNumber last = all.back()->event;
    const bool goes_on =
        iterations_after(iterations, last) >= fewest_iterations || goes_on_without_iterations(device, curves, last);
    if (!goes_on || ended_program(trace)) {
        return {all.back(), {}};
    }
    std::erase_if(all, [&](const OtherEvent* oom) { return is_workspace_request(trace, *oom); });
    return {nullptr, std::move(all)};
}

}  // namespace tidemark
