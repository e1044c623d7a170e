// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The options TRACE, --at and --device, and the states that they select.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recorder/cli/command.h"
#include "storage/analysis/analysis.h"
#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/read/open_trace.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::cli {

/// Opens a trace. Errors: those of open_trace(), and a snapshot (input), whose message contains the import command.
Result<std::shared_ptr<const Trace>> open_input(const std::string& path, Progress& progress);
/// The same without each step.
Result<TraceSummary> open_input_summary(const std::string& path, Progress& progress);

struct TimePointOptions {
    std::string trace;
    std::string at;
    std::optional<int> device;
};

/// Adds TRACE, --at and --device.
void add_time_point_options(CommandLine& line, CLI::App& command, TimePointOptions& options,
                            const char* default_time_point, const std::string& device_help);
/// "Only this device (default: all)"
std::string only_device_help(const Words& words);

/// One device at the selected point in time.
struct DeviceTimePoint {
    std::unique_ptr<Analysis> analysis;
    TimePoint point;

    const Trace& trace() const { return analysis->trace(); }
    const DeviceHistory& device() const { return analysis->device(); }
    int64_t time() const { return time_of(device(), point); }  ///< ns since the start of the trace
};

/// Returns the state of the selected device, or of every device; never empty. Errors list the valid values.
Result<std::vector<DeviceTimePoint>> time_points_of(const std::shared_ptr<const Trace>& trace,
                                                    const TimePointOptions& options);
Result<std::vector<DeviceTimePoint>> open_time_points(const TimePointOptions& options, Progress& progress);
/// Returns the state of the selected device, or of the device with the most events. For data of the whole trace.
Result<DeviceTimePoint> main_time_point(const std::shared_ptr<const Trace>& trace, const TimePointOptions& options);

/// "event 1,234 of 607,632, 12.345678 s"
std::string time_point_text(const Words& words, const Trace& trace, const DeviceHistory& device,
                            const TimePoint& point);

std::string time_point_text(const Words& words, const DeviceTimePoint& time_point);

/// {"event": 12, "time_ns": 345, "text": "event 12 of 20, ..."}; within a repeated step also
/// "repeated_step": {"number": 120, "repeats": 19}
nlohmann::ordered_json time_point_json(const Words& words, const Trace& trace, const DeviceHistory& device,
                                       const TimePoint& point);
nlohmann::ordered_json time_point_json(const Words& words, const DeviceTimePoint& time_point);

/// Adds "repeated_step" within such a step.
void add_place(nlohmann::ordered_json& json, const std::optional<RepeatedPlace>& place);

}  // namespace tidemark::cli
