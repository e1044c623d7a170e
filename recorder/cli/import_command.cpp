// tidemark import: from PyTorch snapshots to traces.
#include "storage/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "recorder/cli/command.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/output.h"
#include "storage/base/units.h"
#include "storage/timeline/curves.h"

namespace tidemark::cli {
namespace {

struct ImportOptions {
    std::vector<std::string> snapshots;
    std::string output;
    bool force = false;
};

std::string counted(int64_t count, std::string_view one) {
    return fmt::format("{} {}{}", format_count(count), one, count == 1 ? "" : "s");
}

/// "run.tide: 351 events, 120 allocations, 1 device, peak 1.20 GiB, file 24.0 KiB; missing: ..."
std::string summary(const Trace& trace) {
    int64_t events = 0;
    int64_t allocations = 0;
    int64_t peak = 0;
    for (const DeviceHistory& device : trace.devices) {
        events += device.event_count();
        allocations += device.allocations.size();
        peak = std::max(peak, Curves(device).peak(Series::allocated).max);
    }
    std::string text =
        fmt::format("{}: {}, {}, {}, peak {}, file {}", one_line(trace.path), counted(events, "event"),
                    counted(allocations, "allocation"), counted(static_cast<int64_t>(trace.devices.size()), "device"),
                    format_bytes(peak), format_bytes(trace.file_bytes));
    if (!trace.data_gaps.empty()) {
        text += fmt::format("; {} (see tidemark info)",
                            counted(static_cast<int64_t>(trace.data_gaps.size()), "thing") + " missing");
    }
    return text + '\n';
}

Status import_one(const std::string& snapshot, const std::string& output, bool force, Progress& progress) {
    TIDEMARK_TRY(may_write_trace(output, force));
    const auto trace = [&] {
        const ProgressBar bar(progress, "Importing " + snapshot);
        return import_snapshot(snapshot, output, force ? IfExists::replace : IfExists::fail, progress);
    }();
    return trace ? print(summary(**trace)) : trace.error();
}

/// Each on its own: one that cannot be read does not stop the others.
Status import_several(const ImportOptions& options, Progress& progress) {
    std::optional<ErrorKind> worst;
    size_t failed = 0;
    for (const std::string& snapshot : options.snapshots) {
        const Status status = import_one(snapshot, trace_path_for(snapshot), options.force, progress);
        if (status) {
            continue;
        }
        if (status.error().kind == ErrorKind::canceled) {
            return status;
        }
        print_error(status.error());
        worst = worst.value_or(status.error().kind);
        ++failed;
    }
    if (worst) {
        return Error{*worst, fmt::format("{} of {} snapshots were not imported.", failed, options.snapshots.size())};
    }
    return {};
}

Status run_import(const ImportOptions& options, Progress& progress) {
    if (options.snapshots.size() > 1) {
        return options.output.empty() ? import_several(options, progress)
                                      : usage_error("-o names one file, but several snapshots were given.");
    }
    const std::string& snapshot = options.snapshots.front();
    return import_one(snapshot, options.output.empty() ? trace_path_for(snapshot) : options.output, options.force,
                      progress);
}

}  // namespace

void add_import_command(CLI::App& app, Job& job) {
    auto options = std::make_shared<ImportOptions>();
    CLI::App& command = add_command(
        app, "import", "Make traces (.tide) from PyTorch memory snapshots",
        "Snapshots are what torch.cuda.memory._dump_snapshot() writes: .pickle, also packed with gzip, xz or zstd.\n"
        "Nothing in them is executed. A trace that exists already is replaced only with --force, any other file never.",
        "  tidemark import run.pickle\n"
        "  tidemark import run.pickle.xz -o other.tide --force");
    command.add_option("SNAPSHOT", options->snapshots, "PyTorch snapshots")->required();
    command.add_option("-o,--output", options->output, "The trace to write (default: beside the snapshot, as .tide)");
    command.add_flag("--force", options->force, "Replace a trace that exists already; other files are never replaced");
    command.callback(
        [options, &job] { job = [options](Progress& progress) { return run_import(*options, progress); }; });
}

}  // namespace tidemark::cli
