// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The names of time points: event:N, time:T, mark:NAME, step:N, peak, end.
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

/// Returns the time that a text contains (time:T, end), which may be later than the last event of the state; nothing
/// for other texts.
std::optional<int64_t> named_time(const Trace& trace, std::string_view text);

/// Returns whether the events have times. Without times, event_time only counts the events.
bool has_times(const Trace& trace, const DeviceHistory& device);

/// Describes the position of a point: "event 1,234 of 607,632, 12.345678 s"; without times "event 1,234 of 607,632".
/// Says so if it is a place of a repeated step, or if not all events around it have rows. `time` may be later than the
/// last event of the state.
Sentence describe_time_point(const Trace& trace, const DeviceHistory& device, const TimePoint& point,
                             std::optional<int64_t> time = std::nullopt);

/// Says whose memory is shown within a repeated step.
Sentence describe_place(const RepeatedPlace& place);

}  // namespace tidemark
