// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark check: memory limits of a run, for continuous integration.
#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "recorder/cli/check/baseline.h"
#include "recorder/cli/check/check_report.h"
#include "recorder/cli/check/limits.h"
#include "recorder/cli/command.h"
#include "recorder/cli/explained.h"
#include "recorder/cli/output.h"
#include "storage/base/exit_status.h"
#include "storage/job/job.h"

namespace tidemark::cli {
namespace {

struct CheckOptions {
    TimePointOptions input;
    std::string baseline;  ///< a trace or the folder of a job; empty: none
    std::string max_increase = "1%";
    Limits limits;
    std::string format = "text";
};

/// What every trace of a run is checked for.
struct Check {
    const Limits& limits;
    const Increase& increase;
    std::optional<int> device;
    const Words& words;
    Progress& progress;
};

Status check_options(const CheckOptions& options) {
    if (options.limits.empty() && options.baseline.empty()) {
        return usage_error(
            "There is no limit to check: use --max-peak, --max-reserved, --max-growth-per-step, --no-finding or "
            "--baseline.");
    }
    if (!options.baseline.empty() && is_job(options.baseline) != is_job(options.input.trace)) {
        return usage_error("The baseline of a job is a job, and that of a trace is a trace, such as run.tidejob:3.");
    }
    return check_limits(options.limits);
}

/// Returns the device to compare with device `number`: the one with the same number, or the only one; nullptr: none.
const Explained* counterpart(const std::vector<Explained>& baseline, int number) {
    const auto found = std::find_if(baseline.begin(), baseline.end(),
                                    [number](const Explained& device) { return device.explanation.device == number; });
    return found != baseline.end() ? &*found : baseline.size() == 1 ? &baseline.front() : nullptr;
}

std::vector<Verified> compared(const std::vector<Explained>& baseline, const Explained& device, const Check& check) {
    const int number = device.explanation.device;
    const Explained* before = counterpart(baseline, number);
    return before != nullptr ? verify_against(*before, device, check.increase, check.words)
                             : without_baseline(check.words("device {device}", with("device", number)), check.words);
}

/// Checks one trace. `baseline`: a trace, or empty.
Result<std::vector<Checked>> check_trace(const std::string& trace, const std::string& baseline, const Check& check) {
    const auto devices = explain_devices({trace, "", check.device}, "", check.words, check.progress);
    if (!devices) {
        return devices.error();
    }
    Result<std::vector<Explained>> before;
    if (!baseline.empty()) {
        before = explain_devices({baseline, "", std::nullopt}, "", check.words, check.progress);
        if (!before) {
            return before.error();
        }
    }
    std::vector<Checked> checked;
    for (const Explained& device : *devices) {
        Checked& of_device =
            checked.emplace_back(Checked{{}, device.explanation.device, verify(device, check.limits, check.words)});
        if (!baseline.empty()) {
            std::ranges::move(compared(*before, device, check), std::back_inserter(of_device.limits));
        }
    }
    return checked;
}

/// Returns the trace of the process of this name; empty if the job has none, or if its trace cannot be read.
std::string trace_of(const Job& job, const std::string& process, const Words& words) {
    const auto found = std::find_if(job.members.begin(), job.members.end(), [&](const JobMember& member) {
        return member.device() != nullptr && member_name(member, words) == process;
    });
    return found == job.members.end() ? std::string() : found->path;
}

/// Checks one process of a job. `baseline`: a job, or nullptr.
Result<std::vector<Checked>> check_member(const JobMember& member, const Job* baseline, const Check& check) {
    const std::string name = member_name(member, check.words);
    const std::string before = baseline == nullptr ? "" : trace_of(*baseline, name, check.words);
    auto checked = check_trace(member.path, before, check);
    if (!checked) {
        return checked.error();
    }
    for (Checked& device : *checked) {
        device.process = name;
        if (baseline != nullptr && before.empty()) {
            std::ranges::move(without_baseline(name, check.words), std::back_inserter(device.limits));
        }
    }
    return checked;
}

/// Checks each process of a job that used a GPU. A trace that cannot be read is an error: it could exceed the limits.
Result<std::vector<Checked>> check_job(const std::string& folder, const std::string& baseline, const Check& check) {
    const auto job = open_job(folder, check.progress);
    if (!job) {
        return job.error();
    }
    Result<Job> before;
    if (!baseline.empty()) {
        before = open_job(baseline, check.progress);
        if (!before) {
            return before.error();
        }
    }
    std::vector<Checked> all;
    for (const JobMember& member : job->members) {
        if (member.failure) {
            return *member.failure;
        }
        if (member.device() == nullptr) {
            continue;
        }
        auto checked = check_member(member, baseline.empty() ? nullptr : &*before, check);
        if (!checked) {
            return checked.error();
        }
        std::ranges::move(*checked, std::back_inserter(all));
    }
    return all;
}

Status run_check(const CheckOptions& options, const Words& words, int& exit_code, Progress& progress) {
    TIDEMARK_TRY(check_options(options));
    const auto increase = parse_increase(options.max_increase);
    if (!increase) {
        return increase.error();
    }
    const Check check{options.limits, *increase, options.input.device, words, progress};
    const auto checked = is_job(options.input.trace) ? check_job(options.input.trace, options.baseline, check)
                                                     : check_trace(options.input.trace, options.baseline, check);
    if (!checked) {
        return checked.error();
    }
    exit_code = all_hold(*checked) ? exit_success : exit_limit;
    return options.format == "json"       ? print_json(check_json(*checked))
           : options.format == "markdown" ? print_clean(check_markdown(*checked, words))
                                          : print(check_text(*checked, words));
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
               "others), as in explain --format json. With --baseline, the limits are the values of an earlier run:\n"
               "its peaks, its growth, and its leaks, failures and waste. Markdown suits pull requests."),
         "  tidemark check run.tide --max-peak 10GiB --max-growth-per-step 0 --no-finding leak\n"
         "  tidemark check run.tide --baseline before.tide --format markdown >> \"$GITHUB_STEP_SUMMARY\"\n"
         "  tidemark check run.tidejob --max-peak 70GiB --no-finding leak      # every rank\n"
         "  tidemark check run.tide --max-reserved 12GiB --no-finding leak,fragmentation --format json"});
    add_trace_option(line, command, options->input.trace);
    mention_jobs(line, command);
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
    CLI::Option* baseline =
        command.add_option("--baseline", options->baseline,
                           words("The trace or the job of an earlier run, which this run must not exceed"));
    find_rank(line, baseline);
    command
        .add_option("--max-increase", options->max_increase,
                    words("How far the peaks may exceed the baseline: a percentage, which also holds for growth, or a "
                          "size"))
        ->needs(baseline)
        ->capture_default_str();
    command.add_option("--device", options->input.device, only_device_help(words));
    add_format_option(command, words("Output format"), options->format, {"text", "json", "markdown"});
    set_work(line, command, [options, words, &exit_code = line.exit_code](Progress& progress) {
        return run_check(*options, words, exit_code, progress);
    });
}

}  // namespace tidemark::cli
