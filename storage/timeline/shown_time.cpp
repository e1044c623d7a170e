// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/shown_time.h"

#include <algorithm>

namespace tidemark {

namespace {

/// Returns the first use of the device's memory, until `end`.
int64_t first_use(const Trace& trace, const DeviceHistory& device, int64_t end) {
    const bool has_events = !device.event_time.empty(), has_driver = !trace.driver_allocations.empty();
    const int64_t first_event = has_events ? device.event_time.front() : end;
    const int64_t first_of_driver = has_driver ? trace.driver_allocations.front().time : first_event;
    return has_events || has_driver ? std::clamp(std::min(first_event, first_of_driver), int64_t{0}, end) : 0;
}

/// Returns the first state up to `last` with that many reserved bytes; `last` if there is none.
EventNumber first_state_with(const Curves& curves, int64_t bytes, EventNumber last) {
    EventNumber first = 0;
    while (first < last) {
        const EventNumber middle = first + (last - first) / 2;
        if (curves.extremes(Series::reserved, 0, middle).max >= bytes) {
            last = middle;
        } else {
            first = middle + 1;
        }
    }
    return last;
}

/// Returns the last time at which anything but an ordinary event of the allocator happens.
int64_t last_special_time(const Trace& trace, const DeviceHistory& device) {
    int64_t last = 0;
    for (const OtherEvent& other : device.others) {
        last = other.action == Action::oom ? device.time_of_state(other.event + 1) : last;
    }
    for (const DriverAllocation& allocation : trace.driver_allocations) {
        if (allocation.device == device.device && !allocation.in_allocator) {
            last = std::max({last, allocation.time, allocation.free_time.value_or(0)});
        }
    }
    return last;
}

}  // namespace

ShownTime used_time(const Trace& trace, const DeviceHistory& device, int64_t end) {
    constexpr int64_t room = 50;  // the first memory is seen to appear
    const int64_t last = std::max(end, device.event_time.empty() ? int64_t{0} : device.event_time.back());
    const int64_t first = first_use(trace, device, last);
    return {std::max(first - (last - first) / room, int64_t{0}), std::max(last, first + 1)};
}

ShownTime busy_time(const Trace& trace, const DeviceHistory& device, const Curves& curves, int64_t end) {
    constexpr int64_t short_part = 5, margin = 8, rare = 50;
    const ShownTime whole = used_time(trace, device, end);
    const std::vector<int64_t>& times = device.event_time;
    if (times.empty()) {
        return whole;
    }
    const auto few = times.size() / rare;
    const EventNumber peak_event = curves.peak(Series::allocated).max_event;
    const int64_t peak = device.time_of_state(peak_event);
    const EventNumber visible = first_state_with(curves, curves.peak(Series::reserved).max / rare, peak_event);
    const int64_t busy = std::min(std::max(times[few], device.time_of_state(visible)), peak);
    const int64_t quiet = std::max({times[times.size() - 1 - few], peak, last_special_time(trace, device)});
    if ((quiet - busy) * short_part >= whole.end - whole.start) {
        return whole;
    }
    const int64_t room = (quiet - busy) / margin + 1;
    return {std::max(whole.start, busy - room), std::min(whole.end, quiet + room), true};
}

}  // namespace tidemark
