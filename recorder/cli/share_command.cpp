// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark share: one compact file for a teammate, without private data.
#include "storage/export/share.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "recorder/cli/command.h"
#include "recorder/cli/file_kind.h"
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
    const auto if_exists = options.force ? IfExists::replace : IfExists::fail;
    Result<ShareReport> report = [&] {
        const ProgressBar bar(progress, words("Sharing {path}", with("path", options.trace)));
        return share_trace(options.trace, options.output, options.request, if_exists, progress);
    }();
    if (!report) {
        return report.error();
    }
    return print(fmt::format("{}: {}\n", one_line(options.output),
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
        {words("Write one compact file for a teammate, redacted and cut as asked"),
         words("--redact replaces strings by placeholders, the same string by the same placeholder:\n"
               "  paths   your files become file1.py, ...; libraries keep the path behind site-packages\n"
               "  names   functions, annotations, marks, modules and custom ops become function1, range1, ...\n"
               "  source  removes the origin of the trace and user metadata\n"
               "--from and --to keep a part, numbered from 0; memory that is alive at its start stays. With several\n"
               "devices the points in time are those of the device with most events, and the others are cut at the\n"
               "same times."),
         "  tidemark share run.tide -o for-anna.tide --redact paths,source,names\n"
         "  tidemark share run.tide -o oom.tide --from time:12s --to end"});
    add_trace_option(line, command, options->trace);
    command.add_option("-o,--output", options->output, words("The file to write"))->required();
    command.add_option("--redact", options->redact, words("paths, source, names; several with commas"));
    command.add_option("--from", options->request.from,
                       words("Start of the part to keep: event:N, time:T, mark:NAME, peak"));
    command.add_option("--to", options->request.to, words("End of the part to keep"));
    command.add_flag("--force", options->force, words("Replace a trace that exists already"));
    set_job(line, command, [options, words](Progress& progress) { return run_share(*options, words, progress); });
}

}  // namespace tidemark::cli
