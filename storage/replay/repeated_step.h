// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A step whose events were not written because it repeats an earlier one, and the places in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "storage/replay/time_point.h"

namespace tidemark {

/// A step that repeats another one, of which the trace has all events.
class RepeatedStep {
public:
    /// Returns the repeated step in (start, end] of which the time lies; nothing if its events were written, or if the
    /// trace lacks the step that it repeats.
    static std::optional<RepeatedStep> at(const Trace& trace, const DeviceHistory& device, int64_t time);

    /// Returns the place at a time (ns since trace start, within the step): the same share of the duration.
    TimePoint at_time(int64_t time) const;
    /// Returns the place where the step that is repeated has this state, between begin() and end().
    TimePoint at_state(EventNumber like) const;

    /// Returns the state in which the step that is repeated begins or ends.
    EventNumber like_begin() const { return place_.begin; }
    EventNumber like_end() const { return place_.end; }
    /// Returns the state in which this step begins, or another one with the same memory.
    EventNumber event() const { return event_; }
    int64_t start() const { return start_; }
    int64_t end() const { return end_; }
    /// Returns the position in DeviceHistory::repeats, and how many of the steps there are before this one.
    size_t row() const { return row_; }
    int64_t steps_before() const { return steps_before_; }

private:
    RepeatedStep(const Trace& trace, const DeviceHistory& device, const RepeatedSteps& row, const Step& step,
                 const Step& like);
    int64_t like_time(int64_t time) const;
    int64_t own_time(int64_t like_time) const;

    const DeviceHistory* device_;
    EventNumber event_;
    size_t row_;
    int64_t steps_before_;
    int64_t start_, end_, like_start_, like_end_;  ///< ns since trace start
    RepeatedPlace place_;
};

/// Returns the point in time at `time` (ns since trace start): a place within a repeated step, an event, or a time
/// between two of them.
TimePoint time_point_at(const Trace& trace, const DeviceHistory& device, int64_t time);
/// Returns the time of a point in ns since trace start: its own, or that of the last event.
int64_t time_of(const DeviceHistory& device, const TimePoint& point);

/// Returns the last state at or before a point: within a repeated step, what lives longer than the step.
EventNumber last_state(const DeviceHistory& device, const TimePoint& point);

}  // namespace tidemark
