// tidemark stats: torch.cuda.memory_stats() and memory_summary() as they were at any moment.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "recorder/cli/command.h"
#include "recorder/cli/moment_options.h"
#include "recorder/cli/output.h"
#include "recorder/cli/stats_table.h"
#include "storage/replay/moment.h"

namespace tidemark::cli {
namespace {

struct StatsOptions {
    MomentOptions moment;
    std::string format = "table";
};

bool makes_counters_uncertain(LossKind kind) {
    switch (kind) {
        case LossKind::block_size_guessed:
        case LossKind::events_inconsistent:
        case LossKind::unknown_actions:
        case LossKind::pool_unknown:
        case LossKind::recorder_overrun:
        case LossKind::unclean_end: return true;
        default: return false;
    }
}

bool has_earlier_memory(const DeviceHistory& device) {
    return device.truncated || (!device.segments.empty() && device.segments.front().alloc_event == before_history) ||
           (device.allocations.size() > 0 && device.allocations.alloc_event[0] == before_history);
}

/// What keeps the numbers from being those of the whole run, in sentences.
std::vector<std::string> notes_about(const DeviceMoment& moment) {
    const DeviceHistory& device = moment.device();
    std::vector<std::string> notes;
    if (has_earlier_memory(device)) {
        notes.push_back(fmt::format(
            "device {}: memory was in use before the trace's first event; peak, allocated and freed count from there.",
            device.device));
    }
    for (const Loss& loss : moment.trace().losses) {
        if (makes_counters_uncertain(loss.kind) && (loss.device < 0 || loss.device == device.device)) {
            notes.push_back(loss.text);
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

Status print_table(const std::vector<DeviceMoment>& moments) {
    std::string text;
    for (const DeviceMoment& moment : moments) {
        text += fmt::format("State at {}\n", describe_moment(moment.device(), moment.event));
        text += memory_summary(moment.analysis->statistics().at(moment.event), moment.device().device);
        for (const std::string& note : notes_about(moment)) {
            text += fmt::format("Note: {}\n", one_line(note));
        }
    }
    return print(text);
}

Status print_as_json(const std::vector<DeviceMoment>& moments, bool is_list) {
    auto list = nlohmann::ordered_json::array();
    for (const DeviceMoment& moment : moments) {
        auto stats = memory_stats(moment.analysis->statistics().at(moment.event), max_split_size(moment.trace()));
        for (const std::string& note : notes_about(moment)) {
            print_note(note);
        }
        if (!is_list) {
            return print_json(stats);
        }
        list.push_back({{"device", moment.device().device}, {"stats", std::move(stats)}});
    }
    return print_json(list);
}

Status run_stats(const StatsOptions& options, Progress& progress) {
    const auto moments = open_moments(options.moment, progress);
    if (!moments) {
        return moments.error();
    }
    return options.format == "json" ? print_as_json(*moments, moments->size() > 1) : print_table(*moments);
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
    add_moment_options(command, options->moment, "end");
    command.add_option("--format", options->format, "table or json")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    command.callback(
        [options, &job] { job = [options](Progress& progress) { return run_stats(*options, progress); }; });
}

}  // namespace tidemark::cli
