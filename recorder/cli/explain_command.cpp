// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark explain: the reasons why memory went up and was not freed.
#include "storage/explain/explain.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "recorder/cli/command.h"
#include "recorder/cli/explained.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/output.h"
#include "recorder/cli/record/recorded_programs.h"
#include "storage/base/part_file.h"
#include "storage/job/explain_job.h"
#include "storage/report/job_report.h"
#include "storage/report/report.h"

namespace tidemark::cli {
namespace {

using nlohmann::ordered_json;

struct ExplainOptions {
    TimePointOptions input;
    std::string from;
    std::string format = "text", output;
    bool all = false, force = false;
};

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view() : value;
}

int columns() {
    constexpr int narrowest = 40, readable = 100, widest = 400;
    int requested = 0;
    const std::string_view text = variable("COLUMNS");
    if (std::from_chars(text.data(), text.data() + text.size(), requested).ec == std::errc() && requested > 0) {
        return std::clamp(requested, narrowest, widest);
    }
    winsize size{};
    const bool is_terminal = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_terminal ? std::clamp<int>(size.ws_col, narrowest, readable) : readable;
}

TextOptions text_options(const ExplainOptions& options) {
    const bool is_terminal = options.output.empty() && ::isatty(STDOUT_FILENO) != 0;
    return {columns(), is_terminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb", options.all};
}

std::string json_report(std::span<const ReportInput> devices) {
    auto list = ordered_json::array();
    for (const ReportInput& reported : devices) {
        list.push_back(report_json(reported));
    }
    return json_text(list.size() == 1 ? list.front() : list);
}

std::string plain_report(std::span<const ReportInput> devices, const Words& words, const ExplainOptions& options) {
    std::string text;
    for (const ReportInput& reported : devices) {
        text += (text.empty() ? "" : "\n") + report_text(reported, words, text_options(options));
    }
    return text;
}

std::string report(std::span<const ReportInput> devices, const Words& words, const ExplainOptions& options) {
    return options.format == "json"       ? json_report(devices)
           : options.format == "html"     ? report_html(devices, words)
           : options.format == "markdown" ? report_markdown(devices, words)
                                          : plain_report(devices, words, options);
}

/// A job is explained from the summaries of its traces, as a whole.
Status run_explain_job(const ExplainOptions& options, const Words& words, Progress& progress) {
    if (!options.input.at.empty() || !options.from.empty() || options.input.device) {
        return usage_error(
            "--at, --from and --device are for the trace of one process: tidemark explain {folder}/*.tide",
            with("folder", options.input.trace));
    }
    const auto job = open_job(options.input.trace, progress);
    if (!job) {
        return job.error();
    }
    const JobExplanation explanation = explain_job(*job, words);
    const JobReportInput reported{*job, explanation};
    const std::string text = options.format == "json"       ? json_text(job_json(reported, words))
                             : options.format == "markdown" ? job_markdown(reported, words)
                             : options.format == "html"     ? job_html(reported, words)
                                                            : job_text(reported, words, text_options(options));
    return options.output.empty() ? print_clean(text) : write_file(options.output, text);
}

Status run_explain(ExplainOptions& options, const Words& words, Progress& progress) {
    if (is_job(options.input.trace)) {
        if (!options.output.empty()) {
            TIDEMARK_TRY(may_write_report(options.output, options.force));
        }
        return run_explain_job(options, words, progress);
    }
    auto trace = trace_or_pid(options.input.trace);
    if (!trace) {
        return trace.error();
    }
    options.input.trace = *std::move(trace);
    if (!options.output.empty()) {
        TIDEMARK_TRY(may_write_report(options.output, options.force));
    }
    const auto devices = explain_devices(options.input, options.from, words, progress);
    if (!devices) {
        return devices.error();
    }
    std::vector<ReportInput> reported;
    for (const Explained& device : *devices) {
        reported.push_back({*device.context, device.explanation});
    }
    const std::string text = report(reported, words, options);
    return options.output.empty() ? print_clean(text) : write_file(options.output, text);
}

}  // namespace

void add_explain_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<ExplainOptions>();
    CLI::App& command = add_command(
        line, "explain",
        {words("Explain why GPU memory went up and was not freed"),
         words("Each finding has its bytes, the line and the variable that cause it, its evidence and recommended\n"
               "fixes. An event in the evidence, such as event:147, is a point in time for --at.\n"
               "Markdown suits tickets; HTML is one file with plots. JSON is one object, or a list if the trace\n"
               "has several devices and --device is missing. Of a job, summaries of its traces are kept in its\n"
               "folder `summaries`, so that the next command need not read them all."),
         "  tidemark explain run.tide\n"
         "  tidemark explain 4711                     # the process 4711, which is being recorded\n"
         "  tidemark explain run.tidejob               # all ranks: what they share, who differs\n"
         "  tidemark explain run.tide --from time:60s --at peak\n"
         "  tidemark explain run.tide --format html -o why.html"});
    find_rank(line, command
                        .add_option("TRACE", options->input.trace,
                                    words("A trace (.tide), the folder of a job (run.tidejob) or a rank of it "
                                          "(run.tidejob:3), or the process id of a recorded program"))
                        ->required());
    command.add_option(
        "--at", options->input.at,
        words("The point in time to explain: event:N, time:T, mark:NAME, step:N, peak or end (default: the end of "
              "the work, or an out-of-memory error that ended it)"));
    command.add_option("--from", options->from,
                       words("Only iterations after this point in time count, as in --at (default: all)"));
    command.add_option("--device", options->input.device, only_device_help(words));
    add_format_option(command, words("Output format"), options->format, {"text", "json", "markdown", "html"});
    command.add_option("-o,--output", options->output, words("The file to write (default: standard output)"));
    command.add_flag("--all", options->all, words("Show background findings in full as well (text format only)"));
    command.add_flag("--force", options->force,
                     words("Replace an existing report; traces and snapshots are never replaced"));
    set_work(line, command, [options, words](Progress& progress) { return run_explain(*options, words, progress); });
}

}  // namespace tidemark::cli
