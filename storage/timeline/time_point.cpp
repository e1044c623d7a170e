// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/time_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "storage/base/parse_number.h"
#include "storage/base/units.h"
#include "storage/replay/repeated_step.h"

namespace tidemark {
namespace {

constexpr size_t names_listed = 12;
constexpr int most_steps_tried = 64;

bool belongs_to(const Annotation& annotation, const DeviceHistory& device) {
    return annotation.device < 0 || annotation.device == device.device;
}

TimePoint point_of(const Trace& trace, const Mark& mark, const DeviceHistory& device) {
    const auto known = mark.events.find(device.device);
    if (known == mark.events.end() || RepeatedStep::at(trace, device, mark.time)) {
        return time_point_at(trace, device, mark.time);
    }
    return std::clamp(known->second, 0, device.event_count());
}

/// Returns all time points of that name, earliest first.
std::vector<TimePoint> time_points_named(const Trace& trace, const DeviceHistory& device, std::string_view name) {
    std::vector<TimePoint> found;
    for (const Mark& mark : trace.marks) {
        if (mark.name == name) {
            found.push_back(point_of(trace, mark, device));
        }
    }
    for (const Annotation& annotation : trace.annotations) {
        if (annotation.name == name && belongs_to(annotation, device)) {
            found.push_back(time_point_at(trace, device, annotation.start));
        }
    }
    std::stable_sort(found.begin(), found.end(), [&](const TimePoint& a, const TimePoint& b) {
        return std::pair(a.event, time_of(device, a)) < std::pair(b.event, time_of(device, b));
    });
    return found;
}

Sentence list_names(const Trace& trace, const DeviceHistory& device) {
    std::set<std::string_view> names;
    for (const Mark& mark : trace.marks) {
        names.insert(mark.name);
    }
    for (const Annotation& annotation : trace.annotations) {
        if (belongs_to(annotation, device)) {
            names.insert(annotation.name);
        }
    }
    if (names.empty()) {
        return Sentence("this trace has no marks and no annotations");
    }
    std::string listed;
    const size_t count = std::min(names.size(), names_listed);
    for (auto name = names.begin(); name != std::next(names.begin(), count); ++name) {
        listed += fmt::format("{}\"{}\"", listed.empty() ? "" : ", ", *name);
    }
    return count == names.size() ? Sentence("there are {names}", with("names", listed))
                                 : Sentence("there are {names} and {count} more", with("names", listed),
                                            with("count", names.size() - count));
}

Result<TimePoint> find_event(const DeviceHistory& device, std::string_view text) {
    const auto number = parse_number<int64_t>(text);
    if (!number) {
        return usage_error("\"event:{text}\" is not an event number; use event:0 to event:{last}.", with("text", text),
                           with("last", device.event_count()));
    }
    if (*number < 0 || *number > device.event_count()) {
        return Error{ErrorKind::usage,
                     Sentence::plural(
                         device.event_count(),
                         "There is no event {event}: device {device} has {n} event (event:0 to event:{last}).",
                         "There is no event {event}: device {device} has {n} events (event:0 to event:{last}).",
                         with("event", *number), with("device", device.device), with("last", device.event_count()))};
    }
    return static_cast<EventNumber>(*number);
}

Result<TimePoint> find_time(const Trace& trace, const DeviceHistory& device, std::string_view text) {
    const auto time = parse_duration(text);
    if (!time) {
        return usage_error("\"time:{text}\" is not a time; use time:1.5s, time:300ms or time:20us.",
                           with("text", text));
    }
    if (*time < 0 || *time > trace.duration) {
        return usage_error("There is nothing at time {time}: the trace goes from 0 to {end}.", with("time", text),
                           with("end", format_time_point(trace.duration)));
    }
    return time_point_at(trace, device, *time);
}

Result<TimePoint> find_mark(const Trace& trace, const DeviceHistory& device, std::string_view text) {
    // A name may contain '#', so the whole text is tried first.
    if (const auto time_points = time_points_named(trace, device, text); !time_points.empty()) {
        return time_points.front();
    }
    const size_t hash = text.rfind('#');
    const std::string_view name = text.substr(0, hash);
    const auto ordinal = hash == std::string_view::npos ? std::nullopt : parse_number<uint32_t>(text.substr(hash + 1));
    const auto time_points = ordinal ? time_points_named(trace, device, name) : std::vector<TimePoint>{};
    if (time_points.empty()) {
        return usage_error("There is no mark or annotation \"{name}\": {known}.", with("name", text),
                           with("known", list_names(trace, device)));
    }
    if (*ordinal == 0 || *ordinal > time_points.size()) {
        return usage_error("There is no number {number} of \"{name}\": mark:{name}#1 to mark:{name}#{last} exist.",
                           with("number", *ordinal), with("name", name), with("last", time_points.size()));
    }
    return time_points[*ordinal - 1];
}

const Step* find_step(const Trace& trace, int64_t number) {
    const auto found = std::find_if(trace.steps.begin(), trace.steps.end(),
                                    [&](const Step& step) { return step.number == number && step.end; });
    return found == trace.steps.end() ? nullptr : &*found;
}

/// Returns the place of a repeated step with the most allocated bytes.
TimePoint peak_of(const RepeatedStep& step, const Curves& curves) {
    return step.at_state(curves.extremes(Series::allocated, step.like_begin(), step.like_end()).max_event);
}

Result<TimePoint> find_step_point(const Trace& trace, const DeviceHistory& device, const Curves& curves,
                                  std::string_view text) {
    constexpr std::string_view suffix = ":peak";
    const bool is_peak = text.ends_with(suffix);
    const auto number = parse_number<int64_t>(is_peak ? text.substr(0, text.size() - suffix.size()) : text);
    const Step* step = number ? find_step(trace, *number) : nullptr;
    if (step == nullptr) {
        return trace.steps.empty()
                   ? usage_error(
                         "There is no step {step}: this trace has no training steps. `tidemark diff --steps` "
                         "compares iterations; their times are points in time, too: time:1.5s.",
                         with("step", text))
                   : usage_error("There is no step {step}: step:{first} to step:{last} exist, and step:{first}:peak.",
                                 with("step", text), with("first", trace.steps.front().number),
                                 with("last", trace.steps.back().number));
    }
    if (!is_peak) {
        return time_point_at(trace, device, *step->end);
    }
    if (const auto repeated = RepeatedStep::at(trace, device, *step->end)) {
        return peak_of(*repeated, curves);
    }
    return TimePoint(
        curves.extremes(Series::allocated, device.events_until(step->start), device.events_until(*step->end))
            .max_event);
}

Sentence describe_state(const Trace& trace, const DeviceHistory& device, const TimePoint& point) {
    const auto event = with("event", format_count(point.event)),
               count = with("count", format_count(device.event_count()));
    if (!has_times(trace, device)) {
        return Sentence("event {event} of {count}", event, count);
    }
    const int64_t at = time_of(device, point), since_event = at - device.time_of_state(point.event);
    const auto time = with("time", format_time_point(at));
    if (!point.between || point.repeated) {
        return Sentence("event {event} of {count}, {time}", event, count, time);
    }
    return since_event < 0 ? Sentence("{time}, {elapsed} before the first event", time,
                                      with("elapsed", format_duration(-since_event)))
                           : Sentence("{time}, {elapsed} after event {event} of {count}", time,
                                      with("elapsed", format_duration(since_event)), event, count);
}

/// Collects the time nearest to `from` on one side of it.
class NearestTime {
public:
    NearestTime(int64_t from, int direction) : from_(from), direction_(direction) {}

    void add(int64_t time) {
        const bool is_ahead = direction_ > 0 ? time > from_ : time < from_;
        if (is_ahead && (!found_ || (direction_ > 0 ? time < *found_ : time > *found_))) {
            found_ = time;
        }
    }
    std::optional<int64_t> found() const { return found_; }

private:
    int64_t from_;
    int direction_;
    std::optional<int64_t> found_;
};

/// Returns the nearest change of memory that no event of the allocator has recorded.
std::optional<int64_t> nearest_change_between(const Trace& trace, int device, int64_t from, int direction) {
    NearestTime nearest(from, direction);
    for (const Sample& sample : trace.samples) {
        if (sample.device == device) {
            nearest.add(sample.time);
        }
    }
    for (const DriverAllocation& allocation : trace.driver_allocations) {
        if (allocation.device == device && !allocation.in_allocator) {
            nearest.add(allocation.time);
            if (allocation.free_time) {
                nearest.add(*allocation.free_time);
            }
        }
    }
    return nearest.found();
}

}  // namespace

Result<TimePoint> find_time_point(const Trace& trace, const DeviceHistory& device, const Curves& curves,
                                  std::string_view text) {
    if (text == "end") {
        return end_point(trace, device, trace.duration);
    }
    if (text == "peak") {
        return peak_time_point(trace, device, curves);
    }
    const size_t colon = text.find(':');
    const std::string_view form = text.substr(0, colon);
    const std::string_view rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    if (colon != std::string_view::npos && form == "event") {
        return find_event(device, rest);
    }
    if (colon != std::string_view::npos && form == "time") {
        return find_time(trace, device, rest);
    }
    if (colon != std::string_view::npos && form == "mark") {
        return find_mark(trace, device, rest);
    }
    if (colon != std::string_view::npos && form == "step") {
        return find_step_point(trace, device, curves, rest);
    }
    return usage_error(
        "\"{text}\" is not a time point; use event:N, time:T (such as time:1.5s), mark:NAME, step:N, step:N:peak, "
        "peak, "
        "end.",
        with("text", text));
}

TimePoint peak_time_point(const Trace& trace, const DeviceHistory& device, const Curves& curves) {
    const Extremes peak = curves.peak(Series::allocated);
    const auto& repeats = device.repeats;
    const auto highest = std::find_if(repeats.begin(), repeats.end(), [&](const RepeatedSteps& steps) {
        return steps.peak_allocated == peak.max && !steps.are_details_deleted();
    });
    TimePoint found = peak.max_event;
    int64_t bytes = peak.max_of_states;
    if (highest == repeats.end()) {
        return found;
    }
    // Rows of steps that had other peaks may have been joined.
    int tried = 0;
    for (auto step = RepeatedStep::at(trace, device, highest->start + 1);
         step && step->end() <= highest->end && bytes < peak.max && tried < most_steps_tried;
         step = RepeatedStep::at(trace, device, step->end() + 1), ++tried) {
        const TimePoint point = peak_of(*step, curves);
        if (const int64_t there = curves.value(Series::allocated, point); there > bytes) {
            found = point;
            bytes = there;
        }
    }
    return found;
}

TimePoint end_point(const Trace& trace, const DeviceHistory& device, int64_t time) {
    const EventNumber last = device.event_count();
    return time > device.time_of_state(last) && has_times(trace, device) ? TimePoint(last, std::optional(time))
                                                                         : TimePoint(last);
}

std::optional<TimePoint> next_event(const Trace& trace, const DeviceHistory& device, const TimePoint& point,
                                    int direction) {
    const auto step = point.repeated ? RepeatedStep::at(trace, device, point.repeated->time) : std::nullopt;
    const EventNumber like = point.repeated ? point.repeated->state + direction : 0;
    if (step && like >= step->like_begin() && like <= step->like_end()) {
        return step->at_state(like);
    }
    // Before a point between two events is the event whose state it has.
    const bool is_back_to_event = direction < 0 && point.between && *point.between > device.time_of_state(point.event);
    const EventNumber event = is_back_to_event ? point.event : last_state(device, point) + direction;
    return event < 0 || event > device.event_count() ? std::nullopt : std::optional(TimePoint(event));
}

std::optional<TimePoint> next_change(const Trace& trace, const DeviceHistory& device, const TimePoint& point,
                                     int direction) {
    const auto event = next_event(trace, device, point, direction);
    if (!has_times(trace, device)) {
        return event;
    }
    const auto between = nearest_change_between(trace, device.device, time_of(device, point), direction);
    if (!between || (event && (*between - time_of(device, *event)) * direction >= 0)) {
        return event;
    }
    return time_point_at(trace, device, *between);
}

Sentence describe_place(const RepeatedPlace& place) {
    return Sentence("step {step} repeats step {like}: its own memory is shown as that of step {like} at the same place",
                    with("step", place.step), with("like", place.like));
}

Sentence describe_time_point(const Trace& trace, const DeviceHistory& device, const TimePoint& point) {
    const int64_t at = time_of(device, point);
    const Sentence state = describe_state(trace, device, point);
    if (point.repeated) {
        return point.repeated->is_at_end() ? state
                                           : Sentence("{state} ({place})", with("state", state),
                                                      with("place", describe_place(*point.repeated)));
    }
    const RepeatedSteps* steps = device.repeated_at(at);
    if (steps == nullptr || at == steps->end) {
        return state;
    }
    return steps->are_details_deleted()
               ? Sentence("{state} (the details of this step were deleted: without allocations that it freed)",
                          with("state", state))
               : Sentence("{state} (this step repeats the one that ends at {time}: without allocations that it freed)",
                          with("state", state), with("time", format_time_point(*steps->like)));
}

}  // namespace tidemark
