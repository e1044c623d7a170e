// tidemark share: one compact file for a teammate, without what is none of their business.
#include "storage/export/share.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "recorder/cli/command.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/time_point_options.h"
#include "recorder/cli/output.h"
#include "storage/base/units.h"

namespace tidemark::cli {
namespace {

struct ShareOptions {
    std::string trace, output, redact;
    ShareRequest request;
    bool force = false;
};

Status run_share(ShareOptions& options, Progress& progress) {
    const auto redaction = redaction_from_names(options.redact);
    if (!redaction) {
        return redaction.error();
    }
    options.request.redaction = *redaction;
    std::error_code error;
    if (std::filesystem::equivalent(options.trace, options.output, error)) {
        return usage_error(options.output + " is the trace itself; choose another name with -o.");
    }
    TIDEMARK_TRY(may_write_trace(options.output, options.force));
    TIDEMARK_TRY(check_is_no_snapshot(options.trace));
    const auto if_exists = options.force ? IfExists::replace : IfExists::fail;
    Result<ShareReport> report = [&] {
        const ProgressBar bar(progress, "Sharing " + options.trace);
        return share_trace(options.trace, options.output, options.request, if_exists, progress);
    }();
    if (!report) {
        return report.error();
    }
    return print(fmt::format("{}: {} events, {} allocations, {}\n", one_line(options.output),
                             format_count(report->events), format_count(report->allocations),
                             format_bytes(report->file_bytes)));
}

}  // namespace

void add_share_command(CLI::App& app, Job& job) {
    auto options = std::make_shared<ShareOptions>();
    CLI::App& command = add_command(
        app, "share", "Write one compact file for a teammate, redacted and cut as wished",
        "--redact replaces texts by stand-ins, the same text by the same one:\n"
        "  paths   your files become file1.py, ...; libraries keep what follows site-packages\n"
        "  names   functions, annotations, marks, modules and custom ops become function1, range1, ...\n"
        "  source  where the trace came from and user metadata are removed\n"
        "--from and --to keep a stretch, numbered from 0; what was alive at its start stays. With several devices the\n"
        "moments are those of the device with most events, and the others are cut at the same times.",
        "  tidemark share run.tide -o for-anna.tide --redact paths,source,names\n"
        "  tidemark share run.tide -o oom.tide --from time:12s --to end");
    command.add_option("TRACE", options->trace, "A trace (.tide)")->required();
    command.add_option("-o,--output", options->output, "The file to write")->required();
    command.add_option("--redact", options->redact, "paths, source, names; several with commas");
    command.add_option("--from", options->request.from, "First moment kept: event:N, time:T, mark:NAME, peak");
    command.add_option("--to", options->request.to, "Last moment kept");
    command.add_flag("--force", options->force, "Replace a trace that exists already");
    command.callback(
        [options, &job] { job = [options](Progress& progress) { return run_share(*options, progress); }; });
}

}  // namespace tidemark::cli
