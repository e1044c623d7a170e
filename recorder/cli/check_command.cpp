// tidemark check: limits that a run must keep, for continuous integration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/exit_status.h"
#include "recorder/cli/explained.h"
#include "recorder/cli/limits.h"
#include "recorder/cli/output.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct CheckOptions {
    TimePointOptions input;
    Limits limits;
    std::string format = "text";
};

/// All limits against one device.
struct Checked {
    int device = 0;
    std::vector<Verified> limits;
};

std::string_view outcome_word(Outcome outcome) {
    switch (outcome) {
        case Outcome::holds: return "holds";
        case Outcome::broken: return "broken";
        case Outcome::unknown: return "unknown";
    }
    return {};
}

/// For the beginning of a line: what a log is searched for.
std::string_view outcome_mark(Outcome outcome) {
    return outcome == Outcome::holds ? "ok" : outcome == Outcome::broken ? "BROKEN" : "UNKNOWN";
}

bool all_hold(const std::vector<Checked>& devices) {
    return std::all_of(devices.begin(), devices.end(), [](const Checked& device) {
        return std::all_of(device.limits.begin(), device.limits.end(),
                           [](const Verified& limit) { return limit.outcome == Outcome::holds; });
    });
}

std::string text_of(const std::vector<Checked>& devices) {
    std::string text;
    int64_t broken = 0;
    for (const Checked& device : devices) {
        for (const Verified& limit : device.limits) {
            broken += limit.outcome != Outcome::holds;
            text += fmt::format("{:<8} device {}: {}\n", outcome_mark(limit.outcome), device.device,
                                one_line(limit.reason));
            for (const std::string& detail : limit.details) {
                text += fmt::format("{:9}{}\n", "", one_line(detail));
            }
        }
    }
    return text + (broken == 0 ? "All limits hold.\n"
                               : fmt::format("{} not hold.\n",
                                             broken == 1 ? "1 limit does" : fmt::format("{} limits do", broken)));
}

ordered_json limit_json(const Verified& limit) {
    return {{"limit", limit.name},
            {"outcome", outcome_word(limit.outcome)},
            {"limit_bytes", or_null(limit.allowed)},
            {"value_bytes", or_null(limit.value)},
            {"reason", limit.reason},
            {"details", limit.details},
            {"line", limit.line},
            {"referrer", limit.referrer},
            {"findings", limit.findings}};
}

ordered_json json_of(const std::vector<Checked>& devices) {
    auto list = ordered_json::array();
    for (const Checked& device : devices) {
        auto limits = ordered_json::array();
        for (const Verified& limit : device.limits) {
            limits.push_back(limit_json(limit));
        }
        list.push_back({{"device", device.device}, {"limits", std::move(limits)}});
    }
    return {{"holds", all_hold(devices)}, {"devices", std::move(list)}};
}

Result<std::vector<Checked>> check_devices(const CheckOptions& options, Progress& progress) {
    const auto devices = explain_devices(options.input, Words(Language::english), progress);
    if (!devices) {
        return devices.error();
    }
    std::vector<Checked> checked;
    for (const Explained& device : *devices) {
        checked.push_back({device.explanation.device, verify(device, options.limits)});
    }
    return checked;
}

Status run_check(const CheckOptions& options, int& exit_code, Progress& progress) {
    TIDEMARK_TRY(check_limits(options.limits));
    const auto checked = check_devices(options, progress);
    if (!checked) {
        return checked.error();
    }
    exit_code = all_hold(*checked) ? exit_fine : exit_limit;
    return options.format == "json" ? print_json(json_of(*checked)) : print(text_of(*checked));
}

}  // namespace

void add_check_command(CLI::App& app, Job& job, int& exit_code) {
    auto options = std::make_shared<CheckOptions>();
    CLI::App& command = add_command(
        app, "check", "Whether a run keeps limits of memory, for continuous integration",
        "Exit status 5: a limit is broken, or the trace cannot tell; each reason names value, limit, line and holder.\n"
        "Peaks are those of torch.cuda.max_memory_allocated() and max_memory_reserved(). Findings are those of "
        "explain:\n"
        "a verdict (leak, failure, waste, pattern, background) or a kind (retained-graph, fragmentation, ...).",
        "  tidemark check run.tide --max-peak 10GiB --max-growth-per-step 0 --no-finding leak\n"
        "  tidemark check run.tide --max-reserved 12GiB --no-finding leak,fragmentation --format json");
    command.add_option("TRACE", options->input.trace, "A trace (.tide)")->required();
    command.add_option("--max-peak", options->limits.peak, "Most allocated memory: 10GiB, 500MB, ...");
    command.add_option("--max-reserved", options->limits.reserved, "Most memory held by PyTorch's allocator");
    command.add_option("--max-growth-per-step", options->limits.growth, "What may be left over by each step: 0, 1MiB");
    command.add_option("--no-finding", options->limits.findings, "Verdicts or kinds that must not be found")
        ->delimiter(',');
    command.add_option("--device", options->input.device, "Only this device (default: all)");
    command.add_option("--format", options->format, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command.callback([options, &job, &exit_code] {
        job = [options, &exit_code](Progress& progress) { return run_check(*options, exit_code, progress); };
    });
}

}  // namespace tidemark::cli
