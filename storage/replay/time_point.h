// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A point in time on a device: a state, a time between two events, or a place within a step whose events were not
// written.
#pragma once

#include <cstdint>
#include <optional>

#include "storage/trace/trace.h"

namespace tidemark {

/// A place within a repeated step: it had what the step that it repeats had at the same place, and what lives longer.
struct RepeatedPlace {
    int64_t step = 0, like = 0;      ///< numbers of the step, and of the one that it repeats
    EventNumber begin = 0, end = 0;  ///< the states in which that one begins and ends
    EventNumber state = 0;           ///< the state of that one at the same place
    EventNumber after = 0;           ///< the state at the end of the step itself
    int64_t time = 0;                ///< ns since trace start: of the place

    bool is_at_end() const { return state == end; }
    bool operator==(const RepeatedPlace&) const = default;
};

struct TimePoint {
    EventNumber event = 0;                  ///< the state; with `repeated`, the one in which its step begins
    std::optional<RepeatedPlace> repeated;  ///< only where the trace has the step that is repeated
    /// ns since trace start, of a point between the events: after the last event of the state, before the next one. The
    /// driver's memory and the samples may differ from those at the event. Nothing: the point is the event itself.
    std::optional<int64_t> between;

    TimePoint() = default;
    TimePoint(EventNumber state) : event(state) {}  // NOLINT(google-explicit-constructor): most points are states
    TimePoint(EventNumber state, const RepeatedPlace& place) : event(state), repeated(place) {}
    TimePoint(EventNumber state, std::optional<int64_t> time) : event(state), between(time) {}
    bool operator==(const TimePoint&) const = default;
};

/// Returns whether the events have times. Without times, event_time only counts the events.
bool has_times(const Trace& trace, const DeviceHistory& device);

}  // namespace tidemark
