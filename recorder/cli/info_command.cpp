// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark info: the origin, the contents and the data gaps of a trace.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/job/job_views.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/base/units.h"
#include "storage/job/job.h"
#include "storage/read/open_trace.h"
#include "storage/read/read_costs.h"
#include "storage/text/data_gap_words.h"
#include "storage/text/fact_words.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct InfoOptions {
    std::string trace;
    std::string format = "text";
    bool check = false;
};

/// PyTorch's defaults (c10/core/AllocatorConfig.h). Settings with these values are not printed.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> default_settings{
    {{"PYTORCH_CUDA_ALLOC_CONF", "\"\""},
     {"max_split_size", "-1"},
     {"garbage_collection_threshold", "0.0"},
     {"expandable_segments", "false"},
     {"pinned_num_register_threads", "1"},
     {"release_lock_on_cudamalloc", "false"},
     {"pinned_use_cuda_host_register", "false"},
     {"graph_capture_record_stream_reuse", "false"},
     {"roundup_power2_divisions", "{}"}}};

bool all_zero(const nlohmann::json& value) {
    return value.is_object() && std::all_of(value.begin(), value.end(), [](const auto& v) { return v == 0; });
}

bool is_default(const std::string& name, const std::string& value) {
    const auto actual = nlohmann::json::parse(value, nullptr, false);
    for (const auto& [known, usual] : default_settings) {
        if (known == name) {
            return actual == nlohmann::json::parse(usual) || all_zero(actual);
        }
    }
    return false;
}

std::vector<std::pair<std::string, std::string>> changed_settings(const Trace& trace) {
    std::vector<std::pair<std::string, std::string>> changed;
    for (const auto& [name, value] : trace.settings) {
        if (!is_default(name, value)) {
            changed.emplace_back(name, value);
        }
    }
    return changed;
}

struct DeviceFacts {
    const DeviceHistory& device;
    const int64_t repeated_steps;      ///< those that repeat an earlier one and were not written
    uint32_t earlier_allocations = 0;  ///< alive before the first event
    struct Peak {
        int64_t bytes = 0;
        std::optional<TimePoint> point;  ///< none: within a repeated step
    };
    Peak peak_allocated, peak_reserved;
    std::array<int64_t, series_count> at_end{};

    DeviceFacts(const DeviceHistory& history, const RepeatsSummary& repeats, const Curves& curves)
        : device(history),
          repeated_steps(repeats.steps),
          peak_allocated(peak_of(curves, Series::allocated)),
          peak_reserved(peak_of(curves, Series::reserved)) {
        if (repeats.peak_allocated > peak_allocated.bytes) {
            peak_allocated = {repeats.peak_allocated, std::nullopt};
        }
        const auto& events = history.allocations.alloc_event;
        earlier_allocations = static_cast<uint32_t>(std::count(events.begin(), events.end(), before_history));
        for (int s = 0; s < series_count; ++s) {
            at_end[s] = curves.value(static_cast<Series>(s), history.event_count());
        }
    }
    static Peak peak_of(const Curves& curves, Series series) {
        const Extremes peak = curves.peak(series);
        return {peak.max, TimePoint(peak.max_event)};
    }
    int64_t end(Series series) const { return at_end[static_cast<size_t>(series)]; }
};

int64_t total_events(const Trace& trace) {
    int64_t events = 0;
    for (const DeviceHistory& device : trace.devices) {
        events += device.event_count();
    }
    return events;
}

std::string start_text(const Trace& trace, const Words& words) {
    if (trace.start_utc_ns == 0) {
        return words("an unknown time");
    }
    const auto start = std::chrono::system_clock::from_time_t(trace.start_utc_ns / 1'000'000'000);
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(start));
}

std::string peak_text(const Trace& trace, const DeviceHistory& device, const DeviceFacts::Peak& peak,
                      const Words& words) {
    if (!peak.point) {
        return words("{bytes} within a repeated step", with("bytes", format_bytes(peak.bytes)));
    }
    return words("{bytes} at {time_point}", with("bytes", format_bytes(peak.bytes)),
                 with("time_point", time_point_text(words, trace, device, *peak.point)));
}

/// "  title           value"
std::string row_text(std::string_view title, std::string_view value) {
    return fmt::format("  {:<16}{}\n", title, visible_text(value));
}

std::string device_text(const Trace& trace, const DeviceFacts& facts, const Words& words) {
    const DeviceHistory& device = facts.device;
    std::string text = '\n' + words("Device {device}", with("device", device.device));
    text += device.name.empty() ? "" : "  " + visible_text(device.name);
    text += device.total_bytes == 0 ? "\n" : fmt::format("  {}\n", format_bytes(device.total_bytes));
    text += row_text(words("events"), format_count(device.event_count()));
    if (facts.repeated_steps > 0) {
        text += row_text(words("repeated steps"), words("{count}, of which only times and peaks are written",
                                                        with("count", format_count(facts.repeated_steps))));
    }
    text += row_text(words("allocations"), words("{count} ({earlier} from before the first event)",
                                                 with("count", format_count(device.allocations.size())),
                                                 with("earlier", format_count(facts.earlier_allocations))));
    text += row_text(words("segments"), format_count(static_cast<int64_t>(device.segments.size())));
    text += row_text(words("peak allocated"), peak_text(trace, device, facts.peak_allocated, words));
    text += row_text(words("peak reserved"), peak_text(trace, device, facts.peak_reserved, words));
    text += row_text(words("at the end"), words("{allocated} allocated, {active} active, {reserved} reserved",
                                                with("allocated", format_bytes(facts.end(Series::allocated))),
                                                with("active", format_bytes(facts.end(Series::active))),
                                                with("reserved", format_bytes(facts.end(Series::reserved)))));
    return text;
}

std::string settings_text(const Trace& trace, const Words& words) {
    if (trace.event_source == EventSource::driver) {
        return '\n' + words("Events: each allocation from the CUDA driver") + '\n';
    }
    if (trace.settings.empty()) {
        return '\n' + words("Allocator settings: not recorded") + '\n';
    }
    const auto changed = changed_settings(trace);
    std::string text = changed.empty() ? '\n' + words("Allocator settings: all at PyTorch's defaults") + '\n'
                                       : '\n' + words("Allocator settings that differ from PyTorch's defaults") + '\n';
    for (const auto& [name, value] : changed) {
        text += fmt::format("  {} = {}\n", visible_text(name), visible_text(value));
    }
    return text;
}

std::string data_gaps_text(const Trace& trace, const Words& words) {
    if (trace.data_gaps.empty()) {
        return '\n' + words("Data gaps: none known") + '\n';
    }
    std::string text = '\n' + words("Data gaps") + '\n';
    for (const DataGap& data_gap : trace.data_gaps) {
        const std::string sentence = data_gap_words(words, data_gap);
        text += fmt::format("  - {}\n", visible_text(data_gap.device < 0 ? sentence
                                                                         : words("device {device}: {text}",
                                                                                 with("device", data_gap.device),
                                                                                 with("text", sentence))));
    }
    return text;
}

std::optional<double> bytes_per_event(const Trace& trace) {
    const int64_t events = total_events(trace);
    return events == 0 ? std::nullopt
                       : std::optional(static_cast<double>(trace.file_bytes) / static_cast<double>(events));
}

std::string file_text(const Trace& trace, const Words& words) {
    const std::string bytes = format_bytes(trace.file_bytes);
    const auto per_event = bytes_per_event(trace);
    return per_event ? words("{bytes}, {per_event} bytes per event", with("bytes", bytes),
                             with("per_event", fmt::format("{:.1f}", *per_event)))
                     : bytes;
}

/// "pid 4711, rank 0, killed by signal 9 at 12.3 s"
std::string process_text(const Process& process, const Words& words) {
    std::vector<std::string> parts{words("pid {pid}", with("pid", process.pid))};
    if (process.place.rank) {
        parts.push_back(words("rank {rank}", with("rank", *process.place.rank)));
    }
    if (!process.place.role.empty()) {
        parts.push_back(process.place.role);
    }
    if (!process.place.node.empty()) {
        parts.push_back(words("on {node}", with("node", process.place.node)));
    }
    if (process.how_ended != ProcessEnd::not_recorded) {
        parts.push_back(process_end_name(words, process.how_ended));
    }
    if (process.exit_status) {
        parts.push_back(words("exit status {status}", with("status", *process.exit_status)));
    }
    const std::string text = fmt::format("{}", fmt::join(parts, words(", ")));
    return process.end
               ? words("{process} at {time}", with("process", text), with("time", format_time_point(*process.end)))
               : text;
}

std::string end_text(const Trace& trace, const Words& words) {
    if (trace.being_written) {
        return words("none: it is being recorded; complete up to {time}",
                     with("time", format_time_point(trace.committed_time)));
    }
    return trace.clean_end ? words("the trace ended cleanly") : words("the trace did not end cleanly");
}

std::string check_text(const std::vector<DataGap>& damage, const Words& words) {
    if (damage.empty()) {
        return '\n' + words("Check: no damage") + '\n';
    }
    std::string text = '\n' + words("Check") + '\n';
    for (const DataGap& data_gap : damage) {
        text += fmt::format("  - {}\n", visible_text(data_gap_words(words, data_gap)));
    }
    return text;
}

using Cost = std::optional<RecordingCostSummary>;

std::string cost_text(const Cost& cost, const Words& words) {
    return cost ? words("{share} of the time, longest pause {pause}", with("share", Words::percent(cost->of_time)),
                        with("pause", format_duration(cost->longest_pause)))
                : words("unknown");
}

std::string info_text(const TraceSummary& summary, const std::vector<DeviceFacts>& facts, const Cost& cost,
                      const Words& words) {
    const Trace& trace = *summary.trace;
    std::string text = fmt::format("{}\n", visible_text(trace.path));
    const auto count = [](size_t number) { return format_count(static_cast<int64_t>(number)); };
    text += row_text(words("source"), source_words(words, trace));
    text += row_text(words("written by"), words("{writer}, trace format {version}", with("writer", trace.writer),
                                                with("version", trace.format_version)));
    text += row_text(words("file"), file_text(trace, words));
    const bool is_timed = trace.devices.empty() ||
                          std::any_of(facts.begin(), facts.end(),
                                      [&](const DeviceFacts& device) { return has_times(trace, device.device); });
    text += row_text(words("time"), is_timed
                                        ? words("from {start}, for {duration}", with("start", start_text(trace, words)),
                                                with("duration", format_duration(trace.duration)))
                                        : words("not recorded"));
    for (const Process& process : trace.processes) {
        text += row_text(words("process"), process_text(process, words));
        text += row_text(words("command"), process.command_line.empty() ? words("not recorded") : process.command_line);
    }
    if (!trace.processes.empty()) {
        text += row_text(words("recording cost"), cost_text(cost, words));
    }
    text += row_text(words("end"), end_text(trace, words));
    text += row_text(words("integrity"), integrity_words(words, trace.integrity));
    text += row_text(words("annotations"), count(trace.annotations.size()));
    text += row_text(words("marks"), count(trace.marks.size()));
    text += row_text(words("steps"), format_count(summary.steps));
    text += row_text(words("NVML samples"), count(trace.samples.size()));
    text += row_text(words("driver memory"), words.plural(static_cast<int64_t>(trace.driver_allocations.size()),
                                                          "{n} allocation", "{n} allocations"));
    for (const DeviceFacts& device : facts) {
        text += device_text(trace, device, words);
    }
    return text + settings_text(trace, words) + data_gaps_text(trace, words);
}

ordered_json peak_json(const Trace& trace, const DeviceHistory& device, const DeviceFacts::Peak& peak,
                       const Words& words) {
    return {{"bytes", peak.bytes},
            {"time_point", peak.point ? time_point_json(words, trace, device, *peak.point) : ordered_json()}};
}

ordered_json device_json(const Trace& trace, const DeviceFacts& facts, const Words& words) {
    const DeviceHistory& device = facts.device;
    return {{"device", device.device},
            {"name", device.name},
            {"total_bytes", device.total_bytes == 0 ? ordered_json() : ordered_json(device.total_bytes)},
            {"events", device.event_count()},
            {"allocations", device.allocations.size()},
            {"allocations_before_first_event", facts.earlier_allocations},
            {"segments", device.segments.size()},
            {"repeated_steps", facts.repeated_steps},
            {"history_truncated", device.truncated},
            {"peak_allocated", peak_json(trace, device, facts.peak_allocated, words)},
            {"peak_reserved", peak_json(trace, device, facts.peak_reserved, words)},
            {"end",
             {{"allocated_bytes", facts.end(Series::allocated)},
              {"active_bytes", facts.end(Series::active)},
              {"requested_bytes", facts.end(Series::requested)},
              {"reserved_bytes", facts.end(Series::reserved)}}}};
}

ordered_json settings_json(const Trace& trace) {
    auto json = ordered_json::object();
    for (const auto& [name, value] : trace.settings) {
        auto parsed = ordered_json::parse(value, nullptr, false);
        json[name] = parsed.is_discarded() ? ordered_json(value) : std::move(parsed);
    }
    return json;
}

ordered_json data_gaps_json(const std::vector<DataGap>& data_gaps, const Words& words) {
    auto list = ordered_json::array();
    for (const DataGap& data_gap : data_gaps) {
        list.push_back({{"kind", data_gap_name(data_gap.kind)},
                        {"device", data_gap.device < 0 ? ordered_json() : ordered_json(data_gap.device)},
                        {"time_ns", data_gap.time},
                        {"count", data_gap.count},
                        {"bytes", data_gap.bytes},
                        {"reason", word_of(data_gap.reason)},
                        {"arguments", data_gap.arguments},
                        {"text", data_gap_words(words, data_gap)}});
    }
    return list;
}

ordered_json processes_json(const Trace& trace) {
    auto list = ordered_json::array();
    for (const Process& process : trace.processes) {
        list.push_back({{"pid", process.pid},
                        {"rank", or_null(process.place.rank)},
                        {"local_rank", or_null(process.place.local_rank)},
                        {"world_size", or_null(process.place.world_size)},
                        {"node", process.place.node},
                        {"role", process.place.role},
                        {"command_line", process.command_line},
                        {"start_ns", process.start},
                        {"end_ns", or_null(process.end)},
                        {"exit_status", or_null(process.exit_status)},
                        {"how_ended", word_of(process.how_ended)}});
    }
    return list;
}

/// Returns null if the cost is unknown.
ordered_json cost_json(const Cost& cost) {
    return cost ? ordered_json{{"of_time", cost->of_time},
                               {"duration_ns", cost->duration},
                               {"longest_pause_ns", cost->longest_pause}}
                : ordered_json();
}

ordered_json info_json(const TraceSummary& summary, const std::vector<DeviceFacts>& facts, const Cost& cost,
                       const Words& words) {
    const Trace& trace = *summary.trace;
    auto devices = ordered_json::array();
    for (const DeviceFacts& device : facts) {
        devices.push_back(device_json(trace, device, words));
    }
    auto changed = ordered_json::array();
    for (const auto& setting : changed_settings(trace)) {
        changed.push_back(setting.first);
    }
    return {{"path", trace.path},
            {"source", trace.source},
            {"writer", trace.writer},
            {"format_version", trace.format_version},
            {"file_bytes", trace.file_bytes},
            {"bytes_per_event", or_null(bytes_per_event(trace))},
            {"start_utc_ns", trace.start_utc_ns == 0 ? ordered_json() : ordered_json(trace.start_utc_ns)},
            {"duration_ns", trace.duration},
            {"clean_end", trace.clean_end},
            {"being_written", trace.being_written},
            {"integrity", integrity_name(trace.integrity)},
            {"processes", processes_json(trace)},
            {"recording_cost", cost_json(cost)},
            {"annotations", trace.annotations.size()},
            {"marks", trace.marks.size()},
            {"steps", summary.steps},
            {"samples", trace.samples.size()},
            {"driver_allocations", trace.driver_allocations.size()},
            {"devices", std::move(devices)},
            {"settings", settings_json(trace)},
            {"settings_changed", std::move(changed)},
            {"data_gaps", data_gaps_json(trace.data_gaps, words)}};
}

Status run_info(const InfoOptions& options, const Words& words, Progress& progress) {
    if (is_job(options.trace)) {
        return options.check ? usage_error("--check reads one trace: tidemark info --check {folder}/TRACE",
                                           with("folder", options.trace))
                             : print_job(options.trace, options.format, words, progress);
    }
    const auto summary = open_input_summary(options.trace, progress);
    if (!summary) {
        return summary.error();
    }
    const Trace& trace = *summary->trace;
    std::optional<std::vector<DataGap>> damage;
    if (options.check) {
        auto found = check_trace(options.trace, progress);
        if (!found) {
            return found.error();
        }
        damage = *std::move(found);
    }
    const auto costs = read_recording_costs(trace, progress);
    if (!costs) {
        return costs.error();
    }
    const Cost cost = summarize(*costs, trace.duration);
    std::vector<DeviceFacts> facts;
    for (size_t d = 0; d < trace.devices.size(); ++d) {
        facts.emplace_back(trace.devices[d], summary->repeats[d], Curves(trace.devices[d]));
    }
    if (options.format == "json") {
        ordered_json json = info_json(*summary, facts, cost, words);
        if (damage) {
            json["damage"] = data_gaps_json(*damage, words);
        }
        TIDEMARK_TRY(print_json(json));
    } else {
        TIDEMARK_TRY(print(info_text(*summary, facts, cost, words) + (damage ? check_text(*damage, words) : "")));
    }
    if (damage && !damage->empty()) {
        return input_error("{path} is damaged; the check lists how.", with("path", options.trace));
    }
    return {};
}

}  // namespace

void add_info_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<InfoOptions>();
    CLI::App& command = add_command(line, "info",
                                    {words("Show the origin, the contents and the data gaps of a trace"), "",
                                     "  tidemark info run.tide\n  tidemark info run.tide --check --format json"});
    add_trace_option(line, command, options->trace);
    mention_jobs(line, command);
    add_format_option(command, words("Output format"), options->format, {"text", "json"});
    command.add_flag("--check", options->check,
                     words("Check every page, checksum and row of the file too; exit with 3 if it is damaged"));
    set_work(line, command, [options, words](Progress& progress) { return run_info(*options, words, progress); });
}

}  // namespace tidemark::cli
