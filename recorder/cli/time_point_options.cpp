#include "recorder/cli/time_point_options.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "recorder/cli/file_kind.h"
#include "storage/read/open_trace.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {
namespace {

std::string device_list(const Trace& trace) {
    std::string text;
    for (const DeviceHistory& device : trace.devices) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", device.device);
    }
    return text;
}

Result<std::vector<const DeviceHistory*>> select_devices(const Trace& trace, std::optional<int> wanted) {
    std::vector<const DeviceHistory*> devices;
    for (const DeviceHistory& device : trace.devices) {
        if (!wanted || *wanted == device.device) {
            devices.push_back(&device);
        }
    }
    if (trace.devices.empty()) {
        return input_error(trace.path + ": this trace holds no events and no memory of any device.");
    }
    if (devices.empty()) {
        return usage_error(
            fmt::format("There is no device {} in this trace: it holds {}.", *wanted, device_list(trace)));
    }
    return devices;
}

Result<DeviceTimePoint> time_point_of(std::shared_ptr<const Trace> trace, const DeviceHistory& device, const std::string& at) {
    auto analysis = std::make_unique<Analysis>(trace, device);
    const auto event = find_time_point(*trace, device, analysis->curves(), at);
    if (!event) {
        return event.error();
    }
    const int64_t time = named_time(*trace, at).value_or(device.time_of_state(*event));
    return DeviceTimePoint{std::move(analysis), *event, time};
}

}  // namespace

Result<std::shared_ptr<const Trace>> open_input(const std::string& path, Progress& progress) {
    TIDEMARK_TRY(check_is_no_snapshot(path));
    return open_trace(path, progress);
}

void add_time_point_options(CLI::App& command, TimePointOptions& options, const char* default_time_point,
                        const char* device_help) {
    options.at = default_time_point;
    command.add_option("TRACE", options.trace, "A trace (.tide)")->required();
    command.add_option("--at", options.at, "The moment: event:N, time:T, mark:NAME (also mark:NAME#2), peak or end")
        ->capture_default_str();
    command.add_option("--device", options.device, device_help);
}

Result<std::vector<DeviceTimePoint>> time_points_of(std::shared_ptr<const Trace> trace, const TimePointOptions& options) {
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

Result<DeviceTimePoint> main_time_point(std::shared_ptr<const Trace> trace, const TimePointOptions& options) {
    const auto devices = select_devices(*trace, options.device);
    if (!devices) {
        return devices.error();
    }
    return time_point_of(trace, options.device ? *devices->front() : trace->main_device(), options.at);
}

nlohmann::ordered_json time_point_json(const DeviceHistory& device, EventNumber event) {
    return {{"event", event}, {"time_ns", device.time_of_state(event)}, {"text", describe_time_point(device, event)}};
}

}  // namespace tidemark::cli
