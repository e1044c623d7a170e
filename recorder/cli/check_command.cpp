// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark check: memory limits of a run, for continuous integration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "recorder/cli/command.h"
#include "recorder/cli/describe.h"
#include "recorder/cli/explained.h"
#include "recorder/cli/limits.h"
#include "recorder/cli/output.h"
#include "storage/base/exit_status.h"
#include "storage/job/job.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct CheckOptions {
    TimePointOptions input;
    Limits limits;
    std::string format = "text";
};

/// The results of all limits on one device.
struct Checked {
    std::string process;  ///< of a job: "rank 3"; else empty
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

/// Returns the begin of a line. Not translated, so that a log can be searched for it.
std::string_view outcome_mark(Outcome outcome) {
    return outcome == Outcome::holds ? "ok" : outcome == Outcome::broken ? "BROKEN" : "UNKNOWN";
}

bool all_hold(const std::vector<Checked>& devices) {
    return std::all_of(devices.begin(), devices.end(), [](const Checked& device) {
        return std::all_of(device.limits.begin(), device.limits.end(),
                           [](const Verified& limit) { return limit.outcome == Outcome::holds; });
    });
}

/// "rank 3, device 0: ..."
std::string place_text(const Checked& checked, const Words& words, const std::string& reason) {
    const auto device = with("device", checked.device), text = with("text", reason);
    return checked.process.empty()
               ? words("device {device}: {text}", device, text)
               : words("{process}, device {device}: {text}", with("process", checked.process), device, text);
}

std::string text_of(const std::vector<Checked>& devices, const Words& words) {
    std::string text;
    int64_t broken = 0;
    for (const Checked& device : devices) {
        for (const Verified& limit : device.limits) {
            broken += limit.outcome != Outcome::holds;
            text += fmt::format("{:<8} {}\n", outcome_mark(limit.outcome),
                                visible_text(place_text(device, words, limit.reason)));
            for (const std::string& detail : limit.details) {
                text += fmt::format("{:9}{}\n", "", visible_text(detail));
            }
        }
    }
    return text +
           (broken == 0 ? words("All limits hold.")
                        : words.plural(broken, "{n} limit is exceeded or cannot be decided.",
                                       "{n} limits are exceeded or cannot be decided.")) +
           '\n';
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
        ordered_json checked{{"device", device.device}, {"limits", std::move(limits)}};
        if (!device.process.empty()) {
            checked["process"] = device.process;
        }
        list.push_back(std::move(checked));
    }
    return {{"holds", all_hold(devices)}, {"devices", std::move(list)}};
}

Result<std::vector<Checked>> check_devices(const CheckOptions& options, const Words& words, Progress& progress) {
    const auto devices = explain_devices(options.input, "", words, progress);
    if (!devices) {
        return devices.error();
    }
    std::vector<Checked> checked;
    for (const Explained& device : *devices) {
        checked.push_back({{}, device.explanation.device, verify(device, options.limits, words)});
    }
    return checked;
}

/// Checks each process of a job that used a GPU. A trace that cannot be read is an error: it could exceed the limits.
Result<std::vector<Checked>> check_job(const CheckOptions& options, const Words& words, Progress& progress) {
    const auto job = open_job(options.input.trace, progress);
    if (!job) {
        return job.error();
    }
    std::vector<Checked> all;
    for (const JobMember& member : job->members) {
        if (member.failure) {
            return *member.failure;
        }
        if (member.device() == nullptr) {
            continue;
        }
        CheckOptions of_member = options;
        of_member.input.trace = member.path;
        auto checked = check_devices(of_member, words, progress);
        if (!checked) {
            return checked.error();
        }
        for (Checked& device : *checked) {
            device.process = member_name(member, words);
            all.push_back(std::move(device));
        }
    }
    return all;
}

Status run_check(const CheckOptions& options, const Words& words, int& exit_code, Progress& progress) {
    TIDEMARK_TRY(check_limits(options.limits));
    const auto checked =
        is_job(options.input.trace) ? check_job(options, words, progress) : check_devices(options, words, progress);
    if (!checked) {
        return checked.error();
    }
    exit_code = all_hold(*checked) ? exit_success : exit_limit;
    return options.format == "json" ? print_json(json_of(*checked)) : print(text_of(*checked, words));
}

}  // namespace

void add_check_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<CheckOptions>();
    CLI::App& command = add_command(
        line, "check",
        {words("Check a trace against memory limits, for continuous integration"),
         words("The exit status is 5 if a limit is exceeded or if the trace lacks the data to decide. Each reason\n"
               "states the value, the limit, the allocation site and the referrer. Peaks are those of\n"
               "torch.cuda.max_memory_allocated() and max_memory_reserved(). --no-finding takes severities (leak,\n"
               "failure, waste, pattern, background) and kinds of findings (retained-graph, fragmentation and\n"
               "others), as in explain --format json."),
         "  tidemark check run.tide --max-peak 10GiB --max-growth-per-step 0 --no-finding leak\n"
         "  tidemark check run.tidejob --max-peak 70GiB --no-finding leak      # every rank\n"
         "  tidemark check run.tide --max-reserved 12GiB --no-finding leak,fragmentation --format json"});
    add_trace_option(line, command, options->input.trace);
    command.add_option("--max-peak", options->limits.peak,
                       words("Limit of the peak of allocated memory, such as 10GiB or 500MB"));
    command.add_option("--max-reserved", options->limits.reserved,
                       words("Limit of the peak of memory that PyTorch reserves"));
    command.add_option("--max-growth-per-step", options->limits.growth,
                       words("Limit of the growth of allocated memory per step, such as 0 or 1MiB"));
    command
        .add_option("--no-finding", options->limits.findings,
                    words("Severities or kinds of findings that must not occur, separated by commas"))
        ->delimiter(',');
    command.add_option("--device", options->input.device, only_device_help(words));
    add_format_option(command, words("Output format"), options->format, {"text", "json"});
    set_work(line, command, [options, words, &exit_code = line.exit_code](Progress& progress) {
        return run_check(*options, words, exit_code, progress);
    });
}

}  // namespace tidemark::cli
