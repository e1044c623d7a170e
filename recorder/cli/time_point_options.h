// What commands about a moment have in common: a trace, a moment in it, and the devices to look at.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "storage/analysis/analysis.h"
#include "storage/base/progress.h"
#include "storage/base/result.h"

namespace tidemark::cli {

/// Opens a trace for a command. A snapshot given in its place gets the hint to import it first.
Result<std::shared_ptr<const Trace>> open_input(const std::string& path, Progress& progress);

struct TimePointOptions {
    std::string trace;
    std::string at;
    std::optional<int> device;
};

/// Adds TRACE, --at and --device.
void add_time_point_options(CLI::App& command, TimePointOptions& options, const char* default_time_point,
                        const char* device_help = "Only this device (default: all)");

/// One device at the chosen moment.
struct DeviceTimePoint {
    std::unique_ptr<Analysis> analysis;
    EventNumber event = 0;
    int64_t time = 0;  ///< ns since trace start: what --at says, which may lie behind the last event before it

    const Trace& trace() const { return analysis->trace(); }
    const DeviceHistory& device() const { return analysis->device(); }
};

/// The chosen device, or every device of the trace; never empty. Errors name what exists.
Result<std::vector<DeviceTimePoint>> time_points_of(std::shared_ptr<const Trace> trace, const TimePointOptions& options);
Result<std::vector<DeviceTimePoint>> open_time_points(const TimePointOptions& options, Progress& progress);
/// The chosen device, or the one with most events: for what belongs to the whole trace.
Result<DeviceTimePoint> main_time_point(std::shared_ptr<const Trace> trace, const TimePointOptions& options);

/// {"event": 12, "time_ns": 345, "text": "event 12 of 20, ..."}
nlohmann::ordered_json time_point_json(const DeviceHistory& device, EventNumber event);

}  // namespace tidemark::cli
