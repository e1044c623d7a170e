// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark share: a compact copy of a trace, without private data.
#include "storage/export/share.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "recorder/cli/command.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/memory_limit.h"
#include "recorder/cli/output.h"
#include "recorder/cli/time_point_options.h"
#include "storage/base/units.h"

namespace tidemark::cli {
namespace {

struct ShareOptions {
    std::string trace, output, redact;
    ShareRequest request;
    bool force = false;
};

Status run_share(ShareOptions& options, const Words& words, Progress& progress) {
    const auto redaction = redaction_from_names(options.redact);
    if (!redaction) {
        return redaction.error();
    }
    options.request.redaction = *redaction;
    std::error_code error;
    if (std::filesystem::equivalent(options.trace, options.output, error)) {
        return usage_error("{path} is the trace itself; select another name with -o.", with("path", options.output));
    }
    TIDEMARK_TRY(may_write_trace(options.output, options.force));
    TIDEMARK_TRY(check_is_no_snapshot(options.trace));
    limit_memory_for(options.trace);
    const auto if_exists = options.force ? IfExists::replace : IfExists::fail;
    Result<ShareReport> report = [&] {
        const ProgressBar bar(progress, words("Sharing {path}", with("path", options.trace)));
        return share_trace(options.trace, options.output, options.request, if_exists, progress);
    }();
    if (!report) {
        return report.error();
    }
    return print(fmt::format("{}: {}\n", visible_text(options.output),
                             words.list({words.plural(report->events, "{n} event", "{n} events"),
                                         words.plural(report->allocations, "{n} allocation", "{n} allocations"),
                                         format_bytes(report->file_bytes)})));
}

}  // namespace

void add_share_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<ShareOptions>();
    CLI::App& command = add_command(
        line, "share",
        {words("Write a compact copy of a trace to share, redacted and cut as requested"),
         words("--redact replaces strings by placeholders; equal strings get the same placeholder:\n"
               "  paths   your files become file1.py, file2.py; files of libraries keep the path after site-packages\n"
               "  names   functions, annotations, marks, modules and custom ops become function1, range1 and so on\n"
               "  source  removes the source of the trace, the command line and user metadata\n"
               "--from and --to select the part to write; its events are numbered from 0. Memory that is alive at\n"
               "its start is included. If the trace has several devices, the points in time are those of the\n"
               "device with the most events, and the other devices are cut at the same times."),
         "  tidemark share run.tide -o for-anna.tide --redact paths,source,names\n"
         "  tidemark share run.tide -o oom.tide --from time:12s --to end"});
    add_trace_option(line, command, options->trace);
    command.add_option("-o,--output", options->output, words("The trace to write"))->required();
    command.add_option("--redact", options->redact,
                       words("What to redact: paths, source, names, separated by commas (default: nothing)"));
    command.add_option(
        "--from", options->request.from,
        words("Start of the part to write: event:N, time:T, mark:NAME, peak or end (default: the start of the trace)"));
    command.add_option("--to", options->request.to, words("End of the part to write (default: the end of the trace)"));
    command.add_flag("--force", options->force, words("Replace an existing trace; other files are never replaced"));
    set_job(line, command, [options, words](Progress& progress) { return run_share(*options, words, progress); });
}

}  // namespace tidemark::cli
