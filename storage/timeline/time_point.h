// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The names of time points: event:N, time:T, mark:NAME, step:N, peak, end; the changes of memory from one to the next.
#pragma once

#include <optional>
#include <string_view>

#include "storage/base/result.h"
#include "storage/timeline/curves.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Returns a time point: `event:N` (state after the first N events), `time:T` (since trace start: 1.5s, 300ms; a number
/// without unit means seconds), `mark:NAME` (a mark, or the start of an annotation; `mark:NAME#3` is the third of that
/// name), `step:N` (the end of a step), `step:N:peak` (most allocated bytes in it), `peak` (most allocated bytes),
/// `end`. Times within repeated steps are places of them. Errors list the existing names.
Result<TimePoint> find_time_point(const Trace& trace, const DeviceHistory& device, const Curves& curves,
                                  std::string_view text);

/// Returns the point with the most allocated bytes, which may lie within a repeated step.
TimePoint peak_time_point(const Trace& trace, const DeviceHistory& device, const Curves& curves);

/// Returns the end of a run that ends or is known up to `time` (ns since trace start): after its last event.
TimePoint end_point(const Trace& trace, const DeviceHistory& device, int64_t time);

/// Returns the next event, or with `direction` < 0 the one before; within a repeated step, the place of the next event
/// of the step that it repeats. Nothing if there is none.
std::optional<TimePoint> next_event(const Trace& trace, const DeviceHistory& device, const TimePoint& point,
                                    int direction);

/// Returns the next point at which the memory of the device changes, or with `direction` < 0 the one before: an event,
/// an NVML sample, or the begin or end of a driver allocation. Nothing if there is none.
std::optional<TimePoint> next_change(const Trace& trace, const DeviceHistory& device, const TimePoint& point,
                                     int direction);

/// Describes the position of a point: "event 1,234 of 607,632, 12.345678 s"; between events "12.345678 s, 3.20 ms after
/// event 1,234 of 607,632"; without times "event 1,234 of 607,632". Says so if it is a place of a repeated step, or if
/// not all events around it have rows.
Sentence describe_time_point(const Trace& trace, const DeviceHistory& device, const TimePoint& point);

/// Says whose memory is shown within a repeated step.
Sentence describe_place(const RepeatedPlace& place);

}  // namespace tidemark
