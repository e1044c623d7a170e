// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark stats: torch.cuda.memory_stats() and memory_summary() at any point in time.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "recorder/cli/command.h"
#include "recorder/cli/job/job_views.h"
#include "recorder/cli/output.h"
#include "recorder/cli/stats_table.h"
#include "recorder/cli/time_point_options.h"
#include "storage/job/job.h"
#include "storage/text/data_gap_words.h"
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
        case DataGapKind::unclean_end:
        case DataGapKind::unknown: return true;
        default: return false;
    }
}

bool has_earlier_memory(const DeviceHistory& device) {
    return device.truncated || (!device.segments.empty() && device.segments.front().alloc_event == before_history) ||
           (device.allocations.size() > 0 && device.allocations.alloc_event[0] == before_history);
}

/// Returns the reasons why the counters are not those of the whole run.
std::vector<std::string> notes_about(const DeviceTimePoint& time_point, const Words& words) {
    const DeviceHistory& device = time_point.device();
    std::vector<std::string> notes;
    if (has_earlier_memory(device)) {
        notes.push_back(words(
            "device {device}: memory was in use before the first event of the trace; peak, allocated and freed count "
            "from there.",
            with("device", device.device)));
    }
    for (const DataGap& data_gap : time_point.trace().data_gaps) {
        if (makes_counters_uncertain(data_gap.kind) && (data_gap.device < 0 || data_gap.device == device.device)) {
            notes.push_back(data_gap_words(words, data_gap));
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

Status print_table(const std::vector<DeviceTimePoint>& time_points, const Words& words) {
    std::string text;
    for (const DeviceTimePoint& time_point : time_points) {
        text += words("State at {time_point}", with("time_point", time_point_text(words, time_point))) + '\n';
        text += memory_summary(time_point.analysis->statistics().at(time_point.point), time_point.device().device);
        for (const std::string& note : notes_about(time_point, words)) {
            text += words("Note: {text}", with("text", visible_text(note))) + '\n';
        }
    }
    return print(text);
}

Status print_as_json(const std::vector<DeviceTimePoint>& time_points, bool is_list, const Words& words) {
    auto list = nlohmann::ordered_json::array();
    for (const DeviceTimePoint& time_point : time_points) {
        auto stats =
            memory_stats(time_point.analysis->statistics().at(time_point.point), max_split_size(time_point.trace()));
        if (const auto& place = time_point.point.repeated; place && !place->is_at_end()) {
            print_note(words, words.translate(describe_place(*place)));
        }
        for (const std::string& note : notes_about(time_point, words)) {
            print_note(words, note);
        }
        if (!is_list) {
            return print_json(stats);
        }
        list.push_back({{"device", time_point.device().device}, {"stats", std::move(stats)}});
    }
    return print_json(list);
}

Status run_stats(const StatsOptions& options, const Words& words, Progress& progress) {
    if (is_job(options.time_point.trace)) {
        if (options.time_point.at != "end" || options.time_point.device) {
            return usage_error("--at and --device are for the trace of one process, such as that of a rank: {folder}:0",
                               with("folder", options.time_point.trace));
        }
        return print_job_stats(options.time_point.trace, options.format, words, progress);
    }
    const auto time_points = open_time_points(options.time_point, progress);
    if (!time_points) {
        return time_points.error();
    }
    return options.format == "json" ? print_as_json(*time_points, time_points->size() > 1, words)
                                    : print_table(*time_points, words);
}

}  // namespace

void add_stats_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<StatsOptions>();
    CLI::App& command = add_command(
        line, "stats",
        {words("Show the allocator's counters at a point in time"),
         words("The table is that of torch.cuda.memory_summary(). JSON has the keys of torch.cuda.memory_stats();\n"
               "a value that the trace lacks is null. JSON is one object, or a list of {device, stats} if the\n"
               "trace has several devices and --device is missing. Peak, allocated and freed count from the first\n"
               "event of the trace. Of a job: allocated and reserved memory of each process."),
         "  tidemark stats run.tide --at peak\n"
         "  tidemark stats run.tidejob\n"
         "  tidemark stats run.tide --at time:12.5s --device 0 --format json"});
    add_time_point_options(line, command, options->time_point, "end", only_device_help(words));
    mention_jobs(line, command);
    add_format_option(command, words("Output format"), options->format, {"table", "json"});
    set_work(line, command, [options, words](Progress& progress) { return run_stats(*options, words, progress); });
}

}  // namespace tidemark::cli
