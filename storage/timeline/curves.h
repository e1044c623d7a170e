// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory over the whole trace at any zoom, without losing a peak.
//
// There are four values per event, in bytes: allocated, active, requested, reserved. A pyramid stores minimum and
// maximum over 64, 64*8, 64*64, ... events, so any range needs only a few hundred nodes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "storage/replay/time_point.h"
#include "storage/trace/trace.h"

namespace tidemark {

enum class Series : uint8_t { allocated, active, requested, reserved };
constexpr int series_count = 4;

/// Repeated steps have no states of their own: `max` includes their peaks, `max_event` does not.
struct Extremes {
    int64_t min = 0, max = 0;
    EventNumber max_event = 0;  ///< the earliest of the states with the most bytes
    int64_t max_of_states = 0;  ///< bytes in that state
};

class Curves {
public:
    /// Visits every event once (about 10 ns each). Keeps a reference to `device`.
    explicit Curves(const DeviceHistory& device);

    /// Number of states in the smallest bucket. Ranges that start and end at a bucket are fastest.
    static constexpr EventNumber bucket_states = 64;

    using All = std::array<Extremes, series_count>;

    /// Returns all series over the states first..last (inclusive, clamped), and over the repeated steps between them.
    All extremes(EventNumber first, EventNumber last) const;
    /// The same without the repeated steps.
    All extremes_of_states(EventNumber first, EventNumber last) const;
    Extremes extremes(Series series, EventNumber first, EventNumber last) const {
        return extremes(first, last)[static_cast<size_t>(series)];
    }
    /// Returns the value in the state after the first n events.
    int64_t value(Series series, EventNumber n) const {
        n = std::clamp(n, 0, device_.event_count());
        return extremes_of_states(n, n)[static_cast<size_t>(series)].max_of_states;
    }
    /// Returns the value at a point in time: within a repeated step, what the step that it repeats had at the same
    /// place, with what lives longer.
    int64_t value(Series series, const TimePoint& point) const {
        const int64_t own =
            point.repeated ? value(series, point.repeated->state) - value(series, point.repeated->begin) : 0;
        return value(series, point.event) + own;
    }
    /// Returns the extremes over the whole trace.
    Extremes peak(Series series) const { return extremes(series, 0, device_.event_count()); }

private:
    using Values = std::array<int64_t, series_count>;
    static void add(All& result, const All& bucket);
    void index_repeats();
    void add_repeats(All& result, EventNumber first, EventNumber last) const;
    /// Includes states one by one, within one leaf.
    void walk(All& result, EventNumber first, EventNumber last) const;

    const DeviceHistory& device_;
    std::vector<Values> base_;              ///< values at each 64th state
    std::vector<std::vector<All>> levels_;  ///< [level][bucket]
    std::vector<Values> repeat_peaks_;      ///< of blocks of repeated steps
};

/// Returns the event with the most allocated bytes of each device of the trace, in the order of Trace::devices.
std::vector<EventNumber> peak_events(const Trace& trace);

}  // namespace tidemark
