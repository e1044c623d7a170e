// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/time_point_options.h"
#include "recorder/cli/memory_limit.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "recorder/cli/file_kind.h"
#include "storage/base/units.h"
#include "storage/read/open_trace.h"
#include "storage/replay/repeated_step.h"
#include "storage/timeline/time_point.h"
#include "storage/trace/select_devices.h"

namespace tidemark::cli {
namespace {

Result<DeviceTimePoint> time_point_of(const std::shared_ptr<const Trace>& trace, const DeviceHistory& device,
                                      const std::string& at) {
    auto analysis = std::make_unique<Analysis>(trace, device);
    const auto point = find_time_point(*trace, device, analysis->curves(), at);
    if (!point) {
        return point.error();
    }
    return DeviceTimePoint{std::move(analysis), *point};
}

}  // namespace

Result<std::shared_ptr<const Trace>> open_input(const std::string& path, Progress& progress) {
    TIDEMARK_TRY(check_may_be_trace(path));
    limit_memory_for(path);
    return open_trace(path, progress);
}

Result<TraceSummary> open_input_summary(const std::string& path, Progress& progress) {
    TIDEMARK_TRY(check_may_be_trace(path));
    limit_memory_for(path);
    return open_summary(path, progress);
}

void add_time_point_options(CommandLine& line, CLI::App& command, TimePointOptions& options,
                            const char* default_time_point, const std::string& device_help) {
    options.at = default_time_point;
    add_trace_option(line, command, options.trace);
    command
        .add_option("--at", options.at,
                    line.words("The point in time: event:N, time:T, mark:NAME (also mark:NAME#2), step:N (its end), "
                               "step:N:peak, peak or end"))
        ->capture_default_str();
    command.add_option("--device", options.device, device_help);
}

std::string only_device_help(const Words& words) { return words("Only this device (default: all)"); }

Result<std::vector<DeviceTimePoint>> time_points_of(const std::shared_ptr<const Trace>& trace,
                                                    const TimePointOptions& options) {
    const auto devices = select_devices(*trace, options.device);
    if (!devices) {
        return devices.error();
    }
    std::vector<DeviceTimePoint> time_points;
    for (const DeviceHistory* device : *devices) {
        auto time_point = time_point_of(trace, *device, options.at);
        if (!time_point) {
            return time_point.error();
        }
        time_points.push_back(std::move(*time_point));
    }
    return time_points;
}

Result<std::vector<DeviceTimePoint>> open_time_points(const TimePointOptions& options, Progress& progress) {
    auto trace = open_input(options.trace, progress);
    if (!trace) {
        return trace.error();
    }
    return time_points_of(*trace, options);
}

Result<DeviceTimePoint> main_time_point(const std::shared_ptr<const Trace>& trace, const TimePointOptions& options) {
    const auto devices = select_devices(*trace, options.device);
    if (!devices) {
        return devices.error();
    }
    return time_point_of(trace, options.device ? *devices->front() : trace->main_device(), options.at);
}

std::string time_point_text(const Words& words, const Trace& trace, const DeviceHistory& device,
                            const TimePoint& point) {
    return words.translate(describe_time_point(trace, device, point));
}

std::string time_point_text(const Words& words, const DeviceTimePoint& time_point) {
    return time_point_text(words, time_point.trace(), time_point.device(), time_point.point);
}

void add_place(nlohmann::ordered_json& json, const std::optional<RepeatedPlace>& place) {
    if (place && !place->is_at_end()) {
        json["repeated_step"] = {{"number", place->step}, {"repeats", place->like}};
    }
}

nlohmann::ordered_json time_point_json(const Words& words, const DeviceTimePoint& time_point) {
    return time_point_json(words, time_point.trace(), time_point.device(), time_point.point);
}

nlohmann::ordered_json time_point_json(const Words& words, const Trace& trace, const DeviceHistory& device,
                                       const TimePoint& point) {
    nlohmann::ordered_json json = {{"event", point.event},
                                   {"time_ns", time_of(device, point)},
                                   {"text", time_point_text(words, trace, device, point)}};
    add_place(json, point.repeated);
    return json;
}

}  // namespace tidemark::cli
