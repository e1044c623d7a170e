// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/export/export_parquet.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <new>
#include <vector>

#include "recorder/cli/explained.h"
#include "recorder/cli/export/exported_tables.h"
#include "recorder/cli/export/parquet_dataset.h"
#include "recorder/cli/memory_limit.h"
#include "recorder/cli/output.h"
#include "recorder/cli/trace_files.h"
#include "storage/base/exit_status.h"
#include "storage/base/units.h"
#include "storage/format/hash.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* default_dataset = "tidemark-dataset";

/// Returns the labels of KEY=VALUE. Keys are names of columns in SQL.
Result<RunLabels> parse_labels(const std::vector<std::string>& texts) {
    RunLabels labels;
    for (const std::string& text : texts) {
        const std::string key = text.substr(0, text.find('='));
        const bool is_name = !key.empty() &&
                             key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos &&
                             (key.front() < '0' || key.front() > '9');
        if (!is_name || key.size() == text.size()) {
            return usage_error(
                "--label {text}: write NAME=VALUE, with a name of lower-case letters, digits and underscores, such as "
                "commit=4f2a91c.",
                with("text", text));
        }
        if (!labels.emplace(key, text.substr(key.size() + 1)).second) {
            return usage_error("--label {text}: this label was given before.", with("text", text));
        }
    }
    return labels;
}

/// Returns the name of a trace's run: that of the file, which people read, and a hash of the content, because most
/// traces are called run.tide.
std::string run_name(const std::string& path) {
    std::string name = fs::path(path).stem().string();
    std::replace_if(
        name.begin(), name.end(),
        [](char c) {
            const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            return !is_plain && c != '.' && c != '_' && c != '-';
        },
        '_');
    Hash hash;
    std::ifstream file(path, std::ios::binary);
    std::vector<char> buffer(size_t{1} << 20);
    while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0) {
        hash.add(buffer.data(), static_cast<size_t>(file.gcount()));
    }
    const auto digest = hash.digest();
    name += '-';
    for (size_t i = 0; i < 6; ++i) {
        name += fmt::format("{:02x}", digest[i]);
    }
    return name;
}

/// What was written and what was not.
struct ExportSummary {
    int64_t runs = 0, bytes = 0;
    int64_t existing = 0;  ///< runs that the dataset had
    int64_t recorded = 0;  ///< traces that are still being recorded
    int exit_code = exit_success;
};

/// Exports traces one after another.
class ParquetExport {
public:
    ParquetExport(const ExportOptions& options, ParquetDataset dataset, const Words& words, Progress& progress)
        : options_(options), dataset_(std::move(dataset)), words_(words), progress_(progress) {}

    /// Prints what is wrong with a trace and goes on with the next one. Errors: the dataset cannot be written,
    /// canceled.
    Result<ExportSummary> run(const std::vector<Result<std::string>>& traces) {
        for (const Result<std::string>& trace : traces) {
            const Status exported = trace ? add_if_possible(*trace) : trace.error();
            if (exported) {
                continue;
            }
            if (dataset_.has_failed() || progress_.canceled) {
                return exported.error();
            }
            print_error(exported.error(), words_);
            if (summary_.exit_code == exit_success) {
                summary_.exit_code = exit_status(exported.error().kind);
            }
        }
        return summary_;
    }

private:
    Status add_if_possible(const std::string& trace) {
        try {
            return add(trace);
        } catch (const std::bad_alloc&) {
            const Error error = out_of_memory_error();
            return Error{error.kind, Sentence("{path}: {text}", with("path", trace), with("text", error.sentence))};
        }
    }

    Status add(const std::string& trace) {
        const std::string run = run_name(trace);
        if (!options_.force && dataset_.has_run(run)) {
            ++summary_.existing;
            return {};
        }
        const ProgressBar bar(progress_, words_("Exporting {path}", with("path", trace)));
        const auto devices = explain_devices({trace, "", std::nullopt}, "", words_, progress_);
        if (!devices) {
            return devices.error();
        }
        if (devices->front().context->trace().being_written) {
            ++summary_.recorded;
            return {};
        }
        return write(run, *devices);
    }

    Status write(const std::string& run, const std::vector<Explained>& devices) {
        const auto which = options_.allocations == "all" ? ExportedAllocations::all : ExportedAllocations::alive;
        const TakeRows take = [&](std::string_view table, std::string_view rows) {
            return progress_.canceled ? Status(canceled_error()) : dataset_.add(table, rows);
        };
        TIDEMARK_TRY(dataset_.begin(run));
        try {
            for (const Explained& device : devices) {
                TIDEMARK_TRY(export_tables(device, which, take));
            }
        } catch (const std::bad_alloc&) {
            TIDEMARK_TRY(dataset_.abandon());
            throw;
        }
        const auto bytes = dataset_.finish();
        if (!bytes) {
            return bytes.error();
        }
        ++summary_.runs;
        summary_.bytes += *bytes;
        return {};
    }

    const ExportOptions& options_;
    ParquetDataset dataset_;
    const Words& words_;
    Progress& progress_;
    ExportSummary summary_;
};

void print_notes(const ExportSummary& summary, const Words& words) {
    if (summary.existing > 0) {
        print_note(words, words.plural(summary.existing,
                                       "{n} trace is in the dataset already and was not exported again; --force "
                                       "replaces its run.",
                                       "{n} traces are in the dataset already and were not exported again; --force "
                                       "replaces their runs."));
    }
    if (summary.recorded > 0) {
        print_note(words, words.plural(summary.recorded, "{n} trace is still being recorded; export it after its end.",
                                       "{n} traces are still being recorded; export them after their end."));
    }
}

}  // namespace

Status export_parquet(const ExportOptions& options, const Words& words, Progress& progress, int& exit_code) {
    const auto labels = parse_labels(options.labels);
    if (!labels) {
        return labels.error();
    }
    const auto traces = find_traces(options.traces);
    if (std::none_of(traces.begin(), traces.end(), [](const auto& trace) { return bool(trace); })) {
        return traces.front().error();
    }
    const std::string folder = options.output.empty() ? default_dataset : options.output;
    auto dataset = ParquetDataset::open(folder, *labels);
    if (!dataset) {
        return dataset.error();
    }
    const auto summary = ParquetExport(options, *std::move(dataset), words, progress).run(traces);
    if (!summary) {
        return summary.error();
    }
    print_notes(*summary, words);
    exit_code = summary->exit_code;
    return print(
        fmt::format("{}: {}\n", visible_text(folder),
                    words.list({words.plural(summary->runs, "{n} run", "{n} runs"), format_bytes(summary->bytes)})));
}

}  // namespace tidemark::cli
