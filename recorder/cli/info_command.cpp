// tidemark info: what a trace is, what it holds and what it cannot know.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/base/units.h"
#include "storage/read/open_trace.h"
#include "storage/timeline/time_point.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct InfoOptions {
    std::string trace;
    std::string format = "text";
    bool check = false;
};

/// PyTorch's defaults (c10/core/AllocatorConfig.h); settings at these values need no mention.
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
    uint32_t earlier_allocations = 0;  ///< alive before the first event
    Extremes peak_allocated, peak_reserved;
    std::array<int64_t, series_count> at_end{};

    DeviceFacts(const DeviceHistory& history, const Curves& curves)
        : device(history),
          peak_allocated(curves.peak(Series::allocated)),
          peak_reserved(curves.peak(Series::reserved)) {
        const auto& events = history.allocations.alloc_event;
        earlier_allocations = static_cast<uint32_t>(std::count(events.begin(), events.end(), before_history));
        for (int s = 0; s < series_count; ++s) {
            at_end[s] = curves.value(static_cast<Series>(s), history.event_count());
        }
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

std::string start_text(const Trace& trace) {
    if (trace.start_utc_ns == 0) {
        return "at an unknown time";
    }
    const auto start = std::chrono::system_clock::from_time_t(trace.start_utc_ns / 1'000'000'000);
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(start));
}

std::string peak_text(const DeviceHistory& device, const Extremes& peak) {
    return fmt::format("{} at {}", format_bytes(peak.max), describe_time_point(device, peak.max_event));
}

std::string device_text(const DeviceFacts& facts) {
    const DeviceHistory& device = facts.device;
    std::string text = fmt::format("\nDevice {}", device.device);
    text += device.name.empty() ? "" : "  " + one_line(device.name);
    text += device.total_bytes == 0 ? "\n" : fmt::format("  {}\n", format_bytes(device.total_bytes));
    const auto row = [&](std::string_view title, const std::string& value) {
        text += fmt::format("  {:<16}{}\n", title, value);
    };
    row("events", format_count(device.event_count()));
    row("allocations", fmt::format("{} ({} from before the first event)", format_count(device.allocations.size()),
                                   format_count(facts.earlier_allocations)));
    row("segments", format_count(static_cast<int64_t>(device.segments.size())));
    row("peak allocated", peak_text(device, facts.peak_allocated));
    row("peak reserved", peak_text(device, facts.peak_reserved));
    row("at the end", fmt::format("{} allocated, {} active, {} reserved", format_bytes(facts.end(Series::allocated)),
                                  format_bytes(facts.end(Series::active)), format_bytes(facts.end(Series::reserved))));
    return text;
}

std::string settings_text(const Trace& trace) {
    if (trace.settings.empty()) {
        return "\nAllocator settings: not recorded\n";
    }
    const auto changed = changed_settings(trace);
    std::string text = changed.empty() ? "\nAllocator settings: all at PyTorch's defaults\n"
                                       : "\nAllocator settings that differ from PyTorch's defaults\n";
    for (const auto& [name, value] : changed) {
        text += fmt::format("  {} = {}\n", one_line(name), one_line(value));
    }
    return text;
}

std::string data_gaps_text(const Trace& trace) {
    if (trace.data_gaps.empty()) {
        return "\nWhat is missing: nothing that is known of\n";
    }
    std::string text = "\nWhat is missing\n";
    for (const DataGap& data_gap : trace.data_gaps) {
        text += fmt::format("  - {}{}\n", data_gap.device < 0 ? "" : fmt::format("device {}: ", data_gap.device),
                            one_line(data_gap.text));
    }
    return text;
}

double bytes_per_event(const Trace& trace) {
    return static_cast<double>(trace.file_bytes) / static_cast<double>(std::max<int64_t>(1, total_events(trace)));
}

/// "pid 4711, rank 0, killed by signal 9 at 12.3 s"
std::string process_text(const Process& process) {
    std::string text = fmt::format("pid {}", process.pid);
    text += process.rank ? fmt::format(", rank {}", *process.rank) : "";
    text += process.how_ended.empty() ? "" : ", " + process.how_ended;
    text += process.exit_status ? fmt::format(", exit status {}", *process.exit_status) : "";
    return text + (process.end ? " at " + format_time_point(*process.end) : "");
}

std::string end_text(const Trace& trace) {
    if (trace.being_written) {
        return fmt::format("none: it is being recorded; complete up to {}", format_time_point(trace.committed_time));
    }
    return trace.clean_end ? "the trace was ended properly" : "the trace was not ended properly";
}

std::string info_text(const Trace& trace, const std::vector<DeviceFacts>& facts) {
    std::string text = fmt::format("{}\n", one_line(trace.path));
    const auto row = [&](std::string_view title, const std::string& value) {
        text += fmt::format("  {:<16}{}\n", title, one_line(value));
    };
    row("source", trace.source);
    row("written by", fmt::format("{}, trace format {}", trace.writer, trace.format_version));
    row("file", fmt::format("{}, {:.1f} bytes per event", format_bytes(trace.file_bytes), bytes_per_event(trace)));
    row("time", fmt::format("from {}, for {}", start_text(trace), format_duration(trace.duration)));
    for (const Process& process : trace.processes) {
        row("process", process_text(process));
        row("command", process.command_line.empty() ? "not recorded" : process.command_line);
    }
    row("end", end_text(trace));
    row("annotations", format_count(static_cast<int64_t>(trace.annotations.size())));
    row("marks", format_count(static_cast<int64_t>(trace.marks.size())));
    row("steps", format_count(static_cast<int64_t>(trace.steps.size())));
    row("NVML samples", format_count(static_cast<int64_t>(trace.samples.size())));
    row("driver memory",
        fmt::format("{} allocations", format_count(static_cast<int64_t>(trace.driver_allocations.size()))));
    for (const DeviceFacts& device : facts) {
        text += device_text(device);
    }
    return text + settings_text(trace) + data_gaps_text(trace);
}

ordered_json peak_json(const DeviceHistory& device, const Extremes& peak) {
    return {{"bytes", peak.max}, {"time_point", time_point_json(device, peak.max_event)}};
}

ordered_json device_json(const DeviceFacts& facts) {
    const DeviceHistory& device = facts.device;
    return {{"device", device.device},
            {"name", device.name},
            {"total_bytes", device.total_bytes == 0 ? ordered_json() : ordered_json(device.total_bytes)},
            {"events", device.event_count()},
            {"allocations", device.allocations.size()},
            {"allocations_before_first_event", facts.earlier_allocations},
            {"segments", device.segments.size()},
            {"history_truncated", device.truncated},
            {"peak_allocated", peak_json(device, facts.peak_allocated)},
            {"peak_reserved", peak_json(device, facts.peak_reserved)},
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

ordered_json data_gaps_json(const Trace& trace) {
    auto list = ordered_json::array();
    for (const DataGap& data_gap : trace.data_gaps) {
        list.push_back({{"kind", data_gap_name(data_gap.kind)},
                        {"device", data_gap.device < 0 ? ordered_json() : ordered_json(data_gap.device)},
                        {"time_ns", data_gap.time},
                        {"count", data_gap.count},
                        {"bytes", data_gap.bytes},
                        {"text", data_gap.text}});
    }
    return list;
}

ordered_json processes_json(const Trace& trace) {
    auto list = ordered_json::array();
    for (const Process& process : trace.processes) {
        list.push_back({{"pid", process.pid},
                        {"rank", or_null(process.rank)},
                        {"command_line", process.command_line},
                        {"start_ns", process.start},
                        {"end_ns", or_null(process.end)},
                        {"exit_status", or_null(process.exit_status)},
                        {"how_ended", process.how_ended}});
    }
    return list;
}

ordered_json info_json(const Trace& trace, const std::vector<DeviceFacts>& facts) {
    auto devices = ordered_json::array();
    for (const DeviceFacts& device : facts) {
        devices.push_back(device_json(device));
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
            {"bytes_per_event", bytes_per_event(trace)},
            {"start_utc_ns", trace.start_utc_ns == 0 ? ordered_json() : ordered_json(trace.start_utc_ns)},
            {"duration_ns", trace.duration},
            {"clean_end", trace.clean_end},
            {"being_written", trace.being_written},
            {"processes", processes_json(trace)},
            {"annotations", trace.annotations.size()},
            {"marks", trace.marks.size()},
            {"steps", trace.steps.size()},
            {"samples", trace.samples.size()},
            {"driver_allocations", trace.driver_allocations.size()},
            {"devices", std::move(devices)},
            {"settings", settings_json(trace)},
            {"settings_changed", std::move(changed)},
            {"data_gaps", data_gaps_json(trace)}};
}

Status run_info(const InfoOptions& options, Progress& progress) {
    const auto trace = open_input(options.trace, progress);
    if (!trace) {
        return trace.error();
    }
    if (options.check) {
        TIDEMARK_TRY(check_every_page(options.trace, progress));
    }
    std::vector<DeviceFacts> facts;
    for (const DeviceHistory& device : (*trace)->devices) {
        facts.emplace_back(device, Curves(device));
    }
    return options.format == "json" ? print_json(info_json(**trace, facts)) : print(info_text(**trace, facts));
}

}  // namespace

void add_info_command(CLI::App& app, Job& job) {
    auto options = std::make_shared<InfoOptions>();
    CLI::App& command = add_command(app, "info", "What a trace is, what it holds, and what is missing or was lost", "",
                                    "  tidemark info run.tide\n  tidemark info run.tide --check --format json");
    command.add_option("TRACE", options->trace, "A trace (.tide)")->required();
    command.add_option("--format", options->format, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command.add_flag("--check", options->check, "Check every page of the file, also what opening does not read");
    command.callback([options, &job] { job = [options](Progress& progress) { return run_info(*options, progress); }; });
}

}  // namespace tidemark::cli
