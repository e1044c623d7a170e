// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark import: converts PyTorch snapshots to traces.
#include "storage/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "recorder/cli/command.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/memory_limit.h"
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

/// "run.tide: 351 events, 120 allocations, 1 device, peak 1.20 GiB, file 24.0 KiB; 1 data gap (see tidemark info)"
std::string summary(const Trace& trace, const Words& words) {
    int64_t events = 0;
    int64_t allocations = 0;
    int64_t peak = 0;
    for (const DeviceHistory& device : trace.devices) {
        events += device.event_count();
        allocations += device.allocations.size();
        peak = std::max(peak, Curves(device).peak(Series::allocated).max);
    }
    const auto devices = static_cast<int64_t>(trace.devices.size()),
               gaps = static_cast<int64_t>(trace.data_gaps.size());
    std::string text =
        words("{path}: {events}, {allocations}, {devices}, peak {peak}, file {size}",
              with("path", visible_text(trace.path)), with("events", words.plural(events, "{n} event", "{n} events")),
              with("allocations", words.plural(allocations, "{n} allocation", "{n} allocations")),
              with("devices", words.plural(devices, "{n} device", "{n} devices")), with("peak", format_bytes(peak)),
              with("size", format_bytes(trace.file_bytes)));
    if (gaps > 0) {
        text += words.plural(gaps, "; {n} data gap (see tidemark info)", "; {n} data gaps (see tidemark info)");
    }
    return text + '\n';
}

Status import_one(const std::string& snapshot, const std::string& output, bool force, const Words& words,
                  Progress& progress) {
    TIDEMARK_TRY(may_write_trace(output, force));
    limit_memory_for(snapshot);
    const auto trace = [&] {
        const ProgressBar bar(progress, words("Importing {path}", with("path", snapshot)));
        return import_snapshot(snapshot, output, force ? IfExists::replace : IfExists::fail, progress);
    }();
    return trace ? print(summary(**trace, words)) : trace.error();
}

/// Imports each snapshot. Continues after a snapshot that cannot be read.
Status import_several(const ImportOptions& options, const Words& words, Progress& progress) {
    std::optional<ErrorKind> worst;
    size_t failed = 0;
    for (const std::string& snapshot : options.snapshots) {
        const Status status = import_one(snapshot, trace_path_for(snapshot), options.force, words, progress);
        if (status) {
            continue;
        }
        if (status.error().kind == ErrorKind::canceled) {
            return status;
        }
        print_error(status.error(), words);
        worst = worst.value_or(status.error().kind);
        ++failed;
    }
    if (worst) {
        return Error{*worst, Sentence::plural(static_cast<int64_t>(failed), "{n} of {all} snapshots was not imported.",
                                              "{n} of {all} snapshots were not imported.",
                                              with("all", options.snapshots.size()))};
    }
    return {};
}

Status run_import(const ImportOptions& options, const Words& words, Progress& progress) {
    if (options.snapshots.size() > 1) {
        return options.output.empty() ? import_several(options, words, progress)
                                      : usage_error("-o names one file, but there are several snapshots.");
    }
    const std::string& snapshot = options.snapshots.front();
    return import_one(snapshot, options.output.empty() ? trace_path_for(snapshot) : options.output, options.force,
                      words, progress);
}

}  // namespace

void add_import_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<ImportOptions>();
    CLI::App& command = add_command(
        line, "import",
        {words("Convert PyTorch memory snapshots to traces (.tide)"),
         words("Snapshots are files that torch.cuda.memory._dump_snapshot() writes (.pickle), also compressed with\n"
               "gzip, xz or zstd. Tidemark executes nothing in them."),
         "  tidemark import run.pickle\n"
         "  tidemark import run.pickle.xz -o other.tide --force"});
    command.add_option("SNAPSHOT", options->snapshots, words("PyTorch snapshots"))->required();
    command.add_option("-o,--output", options->output,
                       words("The trace to write (default: the snapshot's name with the extension .tide)"));
    command.add_flag("--force", options->force, words("Replace an existing trace; other files are never replaced"));
    set_work(line, command, [options, words](Progress& progress) { return run_import(*options, words, progress); });
}

}  // namespace tidemark::cli
