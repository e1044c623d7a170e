// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/time_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <vector>

#include "storage/base/units.h"

namespace tidemark {
namespace {

constexpr size_t names_listed = 12;

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return number;
}

bool belongs_to(const Annotation& annotation, const DeviceHistory& device) {
    return annotation.device < 0 || annotation.device == device.device;
}

EventNumber event_of(const Mark& mark, const DeviceHistory& device) {
    const auto known = mark.events.find(device.device);
    return known != mark.events.end() ? std::clamp(known->second, 0, device.event_count())
                                      : device.events_until(mark.time);
}

/// Returns all time points of that name, earliest first.
std::vector<EventNumber> time_points_named(const Trace& trace, const DeviceHistory& device, std::string_view name) {
    std::vector<EventNumber> found;
    for (const Mark& mark : trace.marks) {
        if (mark.name == name) {
            found.push_back(event_of(mark, device));
        }
    }
    for (const Annotation& annotation : trace.annotations) {
        if (annotation.name == name && belongs_to(annotation, device)) {
            found.push_back(device.events_until(annotation.start));
        }
    }
    std::sort(found.begin(), found.end());
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

Result<EventNumber> find_event(const DeviceHistory& device, std::string_view text) {
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

Result<EventNumber> find_time(const Trace& trace, const DeviceHistory& device, std::string_view text) {
    const auto time = parse_duration(text);
    if (!time) {
        return usage_error("\"time:{text}\" is not a time; use time:1.5s, time:300ms or time:20us.",
                           with("text", text));
    }
    if (*time < 0 || *time > trace.duration) {
        return usage_error("There is nothing at time {time}: the trace goes from 0 to {end}.", with("time", text),
                           with("end", format_time_point(trace.duration)));
    }
    return device.events_until(*time);
}

Result<EventNumber> find_mark(const Trace& trace, const DeviceHistory& device, std::string_view text) {
    // A name may contain '#', so the whole text is tried first.
    if (const auto time_points = time_points_named(trace, device, text); !time_points.empty()) {
        return time_points.front();
    }
    const size_t hash = text.rfind('#');
    const std::string_view name = text.substr(0, hash);
    const auto ordinal = hash == text.npos ? std::nullopt : parse_number<uint32_t>(text.substr(hash + 1));
    const auto time_points = ordinal ? time_points_named(trace, device, name) : std::vector<EventNumber>{};
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

Sentence describe_state(const Trace& trace, const DeviceHistory& device, EventNumber n) {
    const auto event = with("event", format_count(n)), count = with("count", format_count(device.event_count()));
    return has_times(trace, device) ? Sentence("event {event} of {count}, {time}", event, count,
                                               with("time", format_time_point(device.time_of_state(n))))
                                    : Sentence("event {event} of {count}", event, count);
}

}  // namespace

Result<EventNumber> find_time_point(const Trace& trace, const DeviceHistory& device, const Curves& curves,
                                    std::string_view text) {
    if (text == "end") {
        return device.event_count();
    }
    if (text == "peak") {
        return curves.peak(Series::allocated).max_event;
    }
    const size_t colon = text.find(':');
    const std::string_view form = text.substr(0, colon);
    const std::string_view rest = colon == text.npos ? std::string_view{} : text.substr(colon + 1);
    if (colon != text.npos && form == "event") {
        return find_event(device, rest);
    }
    if (colon != text.npos && form == "time") {
        return find_time(trace, device, rest);
    }
    if (colon != text.npos && form == "mark") {
        return find_mark(trace, device, rest);
    }
    return usage_error("\"{text}\" is not a time point; use event:N, time:T (such as time:1.5s), mark:NAME, peak, end.",
                       with("text", text));
}

std::optional<int64_t> named_time(const Trace& trace, std::string_view text) {
    constexpr std::string_view form = "time:";
    if (text == "end") {
        return trace.duration;
    }
    return text.starts_with(form) ? parse_duration(text.substr(form.size())) : std::nullopt;
}

bool has_times(const Trace& trace, const DeviceHistory& device) {
    return std::none_of(trace.data_gaps.begin(), trace.data_gaps.end(), [&](const DataGap& gap) {
        return gap.reason == DataGapReason::no_times && gap.device == device.device;
    });
}

Sentence describe_time_point(const Trace& trace, const DeviceHistory& device, EventNumber n,
                             std::optional<int64_t> time) {
    const Sentence state = describe_state(trace, device, n);
    const int64_t at = time.value_or(device.time_of_state(n));
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
