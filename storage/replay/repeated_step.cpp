// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/replay/repeated_step.h"

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

const Step* step_that_contains(const Trace& trace, int64_t time) {
    const auto found = std::partition_point(trace.steps.begin(), trace.steps.end(),
                                            [&](const Step& step) { return step.end && *step.end < time; });
    return found != trace.steps.end() && found->end && found->start < time ? &*found : nullptr;
}

const Step* step_that_ends_at(const Trace& trace, int64_t time) {
    const Step* step = step_that_contains(trace, time);
    return step != nullptr && *step->end == time ? step : nullptr;
}

/// Returns the first step that begins at `time` or later. Requires one.
const Step* first_step_after(const Trace& trace, int64_t time) {
    return &*std::partition_point(trace.steps.begin(), trace.steps.end(),
                                  [&](const Step& step) { return step.start < time; });
}

/// Returns value * to / from. Steps take less than 2^32 ns mostly: then the product is exact.
int64_t scaled(int64_t value, int64_t from, int64_t to, bool is_rounded_up) {
    const long double result =
        static_cast<long double>(value) * static_cast<long double>(to) / static_cast<long double>(from);
    return static_cast<int64_t>(is_rounded_up ? std::ceil(result) : std::floor(result));
}

/// Returns by how many bytes the allocated memory grows between two states.
int64_t growth(const DeviceHistory& device, EventNumber from, EventNumber to) {
    const Allocations& all = device.allocations;
    int64_t bytes = 0;
    for (EventNumber e = from; e < to; ++e) {
        const EventRef ref = device.event_ref[static_cast<size_t>(e)];
        const bool is_free = ref.action() == Action::free_requested || ref.action() == Action::free_completed;
        if (ref.action() == Action::alloc) {
            bytes += static_cast<int64_t>(all.block_size[ref.index()]);
        } else if (is_free && all.free_event[ref.index()] == e) {
            bytes -= static_cast<int64_t>(all.block_size[ref.index()]);
        }
    }
    return bytes;
}

}  // namespace

std::optional<RepeatedStep> RepeatedStep::at(const Trace& trace, const DeviceHistory& device, int64_t time) {
    const RepeatedSteps* steps = device.repeated_at(time);
    if (steps == nullptr || !steps->like) {
        return std::nullopt;
    }
    const Step *step = step_that_contains(trace, time), *like = step_that_ends_at(trace, *steps->like);
    if (step == nullptr || like == nullptr || step->start < steps->start || *step->end > steps->end) {
        return std::nullopt;
    }
    const RepeatedStep found(trace, device, *steps, *step, *like);
    const int64_t events = found.like_end() - found.like_begin();
    return events > 0 && events * steps->count == steps->events_left_out && found.like_end() <= found.event()
               ? std::optional(found)
               : std::nullopt;
}

RepeatedStep::RepeatedStep(const Trace& trace, const DeviceHistory& device, const RepeatedSteps& row, const Step& step,
                           const Step& like)
    : device_(&device),
      event_(device.events_until(step.start)),
      row_(static_cast<size_t>(&row - device.repeats.data())),
      steps_before_(&step - first_step_after(trace, row.start)),
      start_(step.start),
      end_(*step.end),
      like_start_(like.start),
      like_end_(*like.end) {
    place_.step = step.number;
    place_.like = like.number;
    place_.begin = device.events_until(like_start_);
    place_.end = device.events_until(like_end_);
    place_.after = device.events_until(end_);
    // What one of these steps replaced may still have its row before the last step, besides what replaced it.
    const bool shows_too_much = !row.counters.empty() && growth(device, event_, row.after) < 0;
    if (shows_too_much && growth(device, place_.begin, place_.end) == 0) {
        event_ = place_.after = row.after;
    }
}

int64_t RepeatedStep::like_time(int64_t time) const {
    return like_start_ + scaled(time - start_, end_ - start_, like_end_ - like_start_, false);
}

int64_t RepeatedStep::own_time(int64_t like_time) const {
    return start_ + scaled(like_time - like_start_, like_end_ - like_start_, end_ - start_, true);
}

TimePoint RepeatedStep::at_time(int64_t time) const {
    RepeatedPlace place = place_;
    place.time = std::clamp(time, start_ + 1, end_);
    place.state =
        time >= end_ ? place.end : std::clamp(device_->events_until(like_time(place.time)), place.begin, place.end);
    return {event_, place};
}

TimePoint RepeatedStep::at_state(EventNumber like) const {
    RepeatedPlace place = place_;
    place.state = std::clamp(like, place.begin, place.end);
    const int64_t after_start = place.state == place.begin ? start_ : own_time(device_->time_of_state(place.state));
    place.time = std::clamp(after_start, start_ + 1, end_);
    return {event_, place};
}

TimePoint time_point_at(const Trace& trace, const DeviceHistory& device, int64_t time) {
    if (const auto step = RepeatedStep::at(trace, device, time)) {
        return step->at_time(time);
    }
    const EventNumber state = device.events_until(time);
    return time == device.time_of_state(state) || !has_times(trace, device) ? TimePoint(state)
                                                                            : TimePoint(state, std::optional(time));
}

int64_t time_of(const DeviceHistory& device, const TimePoint& point) {
    return point.repeated ? point.repeated->time : point.between.value_or(device.time_of_state(point.event));
}

EventNumber last_state(const DeviceHistory& device, const TimePoint& point) {
    return point.repeated ? device.events_until(point.repeated->time) : point.event;
}

}  // namespace tidemark
