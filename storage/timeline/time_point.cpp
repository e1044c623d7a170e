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

constexpr std::string_view forms = "event:N, time:T (such as time:1.5s), mark:NAME, peak, end";
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

std::string list_names(const Trace& trace, const DeviceHistory& device) {
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
        return "this trace has no marks and no annotations";
    }
    std::string text = "there are ";
    size_t listed = 0;
    for (const std::string_view name : names) {
        if (listed == names_listed) {
            return text + fmt::format(" and {} more", names.size() - listed);
        }
        text += fmt::format("{}\"{}\"", listed == 0 ? "" : ", ", name);
        ++listed;
    }
    return text;
}

Result<EventNumber> find_event(const DeviceHistory& device, std::string_view text) {
    const auto number = parse_number<int64_t>(text);
    if (!number) {
        return usage_error(
            fmt::format("\"event:{}\" is not an event number; use event:0 to event:{}.", text, device.event_count()));
    }
    if (*number < 0 || *number > device.event_count()) {
        return usage_error(fmt::format("There is no event {}: device {} has {} events (event:0 to event:{}).", *number,
                                       device.device, format_count(device.event_count()), device.event_count()));
    }
    return static_cast<EventNumber>(*number);
}

Result<EventNumber> find_time(const Trace& trace, const DeviceHistory& device, std::string_view text) {
    const auto time = parse_duration(text);
    if (!time) {
        return usage_error(fmt::format("\"time:{}\" is not a time; use time:1.5s, time:300ms or time:20us.", text));
    }
    if (*time < 0 || *time > trace.duration) {
        return usage_error(fmt::format("There is nothing at time {}: the trace goes from 0 to {}.", text,
                                       format_time_point(trace.duration)));
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
        return usage_error(fmt::format("There is no mark or annotation \"{}\": {}.", text, list_names(trace, device)));
    }
    if (*ordinal == 0 || *ordinal > time_points.size()) {
        return usage_error(fmt::format("There is no number {} of \"{}\": mark:{}#1 to mark:{}#{} exist.", *ordinal,
                                       name, name, name, time_points.size()));
    }
    return time_points[*ordinal - 1];
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
    return usage_error(fmt::format("\"{}\" is not a time point; use {}.", text, forms));
}

std::optional<int64_t> named_time(const Trace& trace, std::string_view text) {
    constexpr std::string_view form = "time:";
    if (text == "end") {
        return trace.duration;
    }
    return text.starts_with(form) ? parse_duration(text.substr(form.size())) : std::nullopt;
}

std::string describe_time_point(const DeviceHistory& device, EventNumber n) {
    return fmt::format("event {} of {}, {}", format_count(n), format_count(device.event_count()),
                       format_time_point(device.time_of_state(n)));
}

}  // namespace tidemark
