// tidemark stats: torch.cuda.memory_stats() and memory_summary() as they were at any moment.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "recorder/cli/command.h"
#include "recorder/cli/output.h"
#include "recorder/cli/stats_table.h"
#include "recorder/cli/time_point_options.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {
namespace {

struct StatsOptions {
    TimePointOptions time_point;
    std::string format = "table";
};

bool makes_counters_uncertain(DataGapKind kind) {
    switch (kind) {
        case DataGapKind::block_size_guessed:
        case DataGapKind::events_inconsistent:
        case DataGapKind::unknown_actions:
        case DataGapKind::pool_unknown:
        case DataGapKind::recorder_overrun:
        case DataGapKind::unclean_end: return true;
        default: return false;
    }
}

bool has_earlier_memory(const DeviceHistory& device) {
    return device.truncated || (!device.segments.empty() && device.segments.front().alloc_event == before_history) ||
           (device.allocations.size() > 0 && device.allocations.alloc_event[0] == before_history);
}

/// What keeps the numbers from being those of the whole run, in sentences.
std::vector<std::string> notes_about(const DeviceTimePoint& time_point) {
    const DeviceHistory& device = time_point.device();
    std::vector<std::string> notes;
    if (has_earlier_memory(device)) {
        notes.push_back(fmt::format(
            "device {}: memory was in use before the trace's first event; peak, allocated and freed count from there.",
            device.device));
    }
    for (const DataGap& data_gap : time_point.trace().data_gaps) {
        if (makes_counters_uncertain(data_gap.kind) && (data_gap.device < 0 || data_gap.device == device.device)) {
            notes.push_back(data_gap.text);
        }
    }
    return notes;
}

std::optional<int64_t> max_split_size(const Trace& trace) {
    const auto setting = trace.settings.find("max_split_size");
    if (setting == trace.settings.end()) {
        return std::nullopt;
    }
    const auto value = nlohmann::json::parse(setting->second, nullptr, false);
    return value.is_number_integer() ? std::optional(value.get<int64_t>()) : std::nullopt;
}

Status print_table(const std::vector<DeviceTimePoint>& time_points) {
    std::string text;
    for (const DeviceTimePoint& time_point : time_points) {
        text += fmt::format("State at {}\n", describe_time_point(time_point.device(), time_point.event));
        text += memory_summary(time_point.analysis->statistics().at(time_point.event), time_point.device().device);
        for (const std::string& note : notes_about(time_point)) {
            text += fmt::format("Note: {}\n", one_line(note));
        }
    }
    return print(text);
}

Status print_as_json(const std::vector<DeviceTimePoint>& time_points, bool is_list) {
    auto list = nlohmann::ordered_json::array();
    for (const DeviceTimePoint& time_point : time_points) {
        auto stats = memory_stats(time_point.analysis->statistics().at(time_point.event), max_split_size(time_point.trace()));
        for (const std::string& note : notes_about(time_point)) {
            print_note(note);
        }
        if (!is_list) {
            return print_json(stats);
        }
        list.push_back({{"device", time_point.device().device}, {"stats", std::move(stats)}});
    }
    return print_json(list);
}

Status run_stats(const StatsOptions& options, Progress& progress) {
    const auto time_points = open_time_points(options.time_point, progress);
    if (!time_points) {
        return time_points.error();
    }
    return options.format == "json" ? print_as_json(*time_points, time_points->size() > 1) : print_table(*time_points);
}

}  // namespace

void add_stats_command(CLI::App& app, Job& job) {
    auto options = std::make_shared<StatsOptions>();
    CLI::App& command = add_command(
        app, "stats", "The allocator's counters at any moment",
        "The table is that of torch.cuda.memory_summary(); JSON has the keys of torch.cuda.memory_stats(), null where\n"
        "a trace cannot tell: one object, or a list of {device, stats} when there are several devices and none is\n"
        "chosen. Peak, allocated and freed count from the trace's first event.",
        "  tidemark stats run.tide --at peak\n"
        "  tidemark stats run.tide --at time:12.5s --device 0 --format json");
    add_time_point_options(command, options->time_point, "end");
    command.add_option("--format", options->format, "table or json")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    command.callback(
        [options, &job] { job = [options](Progress& progress) { return run_stats(*options, progress); }; });
}

}  // namespace tidemark::cli
