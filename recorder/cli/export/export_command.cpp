// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark export: the data of traces in the formats of other programs.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "recorder/cli/command.h"
#include "recorder/cli/export/export_csv.h"
#include "recorder/cli/export/export_file.h"
#include "recorder/cli/export/export_parquet.h"
#include "recorder/cli/job/job_views.h"
#include "recorder/cli/record/recorded_programs.h"

namespace tidemark::cli {
namespace {

/// An option that only some formats have.
struct FormatOption {
    const CLI::Option* option;
    std::vector<std::string> formats;
};

Status check_options(const std::vector<FormatOption>& options, const std::string& format) {
    for (const auto& [option, formats] : options) {
        if (option->count() > 0 && std::find(formats.begin(), formats.end(), format) == formats.end()) {
            return usage_error("{option} is for --format {formats}.", with("option", option->get_name()),
                               with("formats", CLI::detail::join(formats, ", ")));
        }
    }
    return {};
}

Result<std::string> only_trace(const ExportOptions& options) {
    if (options.traces.size() > 1) {
        return usage_error("--format {format} takes one trace; {count} are given.", with("format", options.format),
                           with("count", options.traces.size()));
    }
    const auto trace = trace_of_rank(options.traces.front());
    return trace ? trace_or_pid(*trace) : trace.error();
}

Status run_export(const ExportOptions& options, const Words& words, Progress& progress, int& exit_code) {
    if (options.output == "-" && (options.format == "csv" || options.format == "parquet")) {
        return usage_error("--format {format} writes a folder, not to the standard output; name the folder with -o.",
                           with("format", options.format));
    }
    if (options.format == "parquet") {
        return export_parquet(options, words, progress, exit_code);
    }
    const auto trace = only_trace(options);
    if (!trace) {
        return trace.error();
    }
    return options.format == "perfetto"     ? export_perfetto(options, *trace, words, progress)
           : options.format == "memory_viz" ? export_memory_viz(options, *trace, words, progress)
           : options.format == "folded"     ? export_folded(options, *trace, words, progress)
                                            : export_csv(options, *trace, words, progress);
}

std::vector<FormatOption> add_format_options(CLI::App& command, ExportOptions& options, const Words& words) {
    CLI::Option* label =
        command
            .add_option("--label", options.labels,
                        words("parquet: NAME=VALUE, a column of all tables for the traces of this command, such as "
                              "commit=4f2a91c; may be repeated"))
            ->allow_extra_args(false);
    CLI::Option* allocations =
        command
            .add_option("--allocations", options.allocations,
                        words("parquet, csv: the rows of the table allocations: alive, those active at the peak or at "
                              "the end; or all"))
            ->check(CLI::IsMember({"alive", "all"}))
            ->capture_default_str();
    CLI::Option* at = command
                          .add_option("--at", options.at,
                                      words("folded: the point in time: event:N, time:T, mark:NAME, step:N, "
                                            "step:N:peak, peak or end"))
                          ->capture_default_str();
    CLI::Option* profile = command.add_option(
        "--with", options.profile,
        words("perfetto: a file of torch.profiler (.json, .json.gz); the output has the events of both"));
    CLI::Option* spans =
        command
            .add_option("--spans", options.most_spans,
                        words("perfetto: the number of allocations to show, the largest of each device; 0 shows all"))
            ->capture_default_str();
    CLI::Option* device = command.add_option("--device", options.device, words("Only this device (default: all)"));
    return {{label, {"parquet"}},  {allocations, {"parquet", "csv"}},
            {at, {"folded"}},      {profile, {"perfetto"}},
            {spans, {"perfetto"}}, {device, {"perfetto", "memory_viz", "csv", "folded"}}};
}

}  // namespace

void add_export_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<ExportOptions>();
    CLI::App& command = add_command(
        line, "export",
        {words("Write the data of traces for other programs: Perfetto, PyTorch's memory page, tables, flame graphs"),
         words("perfetto: a timeline for ui.perfetto.dev, on the clock of torch.profiler: memory as counters,\n"
               "allocations and steps as spans, marks and findings.\n"
               "memory_viz: a snapshot for pytorch.org/memory_viz and python -m torch.cuda._memory_viz.\n"
               "csv: a folder with a file per table. folded: stacks with bytes, for flamegraph.pl and speedscope.\n"
               "parquet: a dataset of many traces for DuckDB, pyarrow, Spark, Ray Data or a warehouse, with a file\n"
               "per table and trace, DATASET/TABLE/run=NAME/part-0.parquet. A Python with pyarrow writes the files:\n"
               "the python3 in PATH. A trace that cannot be read is reported, and the others are exported. A trace\n"
               "that the dataset has already is left out, so the same folder can be exported again and again.\n"
               "docs/FLEET.md describes the tables, docs/INTEGRATIONS.md the other formats."),
         "  tidemark export --format perfetto run.tide\n"
         "  tidemark export --format perfetto run.tide --with profile.json.gz -o both.json\n"
         "  tidemark export --format folded run.tide -o - | flamegraph.pl --countname bytes > memory.svg\n"
         "  tidemark export --format parquet -o fleet --label commit=4f2a91c --label job=nightly traces/\n"
         "  duckdb -c \"SELECT run, max(peak_allocated_bytes) FROM 'fleet/runs/*/*.parquet' GROUP BY run\""});
    command
        .add_option(
            "TRACE", options->traces,
            words("A trace (.tide), that of a rank (run.tidejob:3) or a process id; parquet: traces, or folders "
                  "with traces in them"))
        ->required();
    command.add_option("--format", options->format, words("Output format"))
        ->check(CLI::IsMember({"perfetto", "memory_viz", "csv", "folded", "parquet"}))
        ->required();
    command.add_option("-o,--output", options->output,
                       words("The file or folder to write; - is the standard output, which takes no folder (default: a "
                             "name like that of the trace; parquet: tidemark-dataset, to which runs are added)"));
    const auto format_options = add_format_options(command, *options, words);
    command.add_flag(
        "--force", options->force,
        words("Replace an existing file, but no trace and no snapshot; parquet: replace the runs of traces "
              "that the dataset has already"));
    set_work(line, command, [options, format_options, words, &exit_code = line.exit_code](Progress& progress) {
        const Status checked = check_options(format_options, options->format);
        return checked ? run_export(*options, words, progress, exit_code) : checked;
    });
}

}  // namespace tidemark::cli
