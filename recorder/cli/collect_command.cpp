// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark collect: brings the traces of a job together that lie on the disks of several nodes.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "recorder/cli/command.h"
#include "recorder/cli/output.h"
#include "storage/base/copy_file.h"
#include "storage/base/units.h"
#include "storage/job/job.h"
#include "storage/job/summarize.h"
#include "storage/job/summary_file.h"
#include "storage/text/words.h"
#include "storage/trace/file_extensions.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

struct CollectOptions {
    std::vector<std::string> folders;
    std::string output;
};

struct Collected {
    int64_t copied = 0, bytes = 0, there_already = 0;
};

/// Copies a trace and its summary, which belongs to it by the time of change. A trace of another run that has its name
/// is not replaced.
Status collect_trace(const std::string& trace, const std::string& folder, Collected& collected) {
    const std::string target = (fs::path(folder) / fs::path(trace).filename()).string();
    const FileState from = state_of_file(trace), to = state_of_file(target);
    if (to == from) {
        ++collected.there_already;
        return {};
    }
    if (to != FileState()) {
        return usage_error("{path} exists already and is another trace; it is left alone.", with("path", target));
    }
    std::error_code error;
    TIDEMARK_TRY(copy_file(fs::canonical(trace, error).string(), target, IfExists::fail));
    if (fs::exists(summary_path(trace), error)) {
        fs::create_directory(fs::path(summary_path(target)).parent_path(), error);
        TIDEMARK_TRY(copy_file(summary_path(trace), summary_path(target), IfExists::replace));
    }
    ++collected.copied;
    collected.bytes += from.bytes;
    return {};
}

/// Returns the traces of all folders. Errors: there is no such folder (environment), or no trace in it (input).
Result<std::vector<std::string>> traces_to_collect(const std::vector<std::string>& folders) {
    std::vector<std::string> all;
    for (const std::string& folder : folders) {
        std::error_code error;
        if (!fs::is_directory(folder, error)) {
            return environment_error("{path}: there is no such folder.", with("path", folder));
        }
        const std::vector<std::string> traces = traces_in(folder);
        if (traces.empty()) {
            return input_error("{path}: there is no trace (*{extension}) in this folder.", with("path", folder),
                               with("extension", trace_extension));
        }
        all.insert(all.end(), traces.begin(), traces.end());
    }
    return all;
}

Status run_collect(const CollectOptions& options, const Words& words) {
    const auto traces = traces_to_collect(options.folders);
    if (!traces) {
        return traces.error();
    }
    std::error_code error;
    fs::create_directories(options.output, error);
    if (!fs::is_directory(options.output, error)) {
        return environment_error("{folder}: this folder cannot be created.", with("folder", options.output));
    }
    Collected collected;
    for (const std::string& trace : *traces) {
        TIDEMARK_TRY(collect_trace(trace, options.output, collected));
    }
    std::vector<std::string> parts{words.plural(collected.copied, "{n} trace copied", "{n} traces copied"),
                                   format_bytes(collected.bytes)};
    if (collected.there_already > 0) {
        parts.push_back(words.plural(collected.there_already, "{n} was there already", "{n} were there already"));
    }
    return print(fmt::format("{}: {}\n", visible_text(options.output), words.list(parts)));
}

}  // namespace

void add_collect_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<CollectOptions>();
    CLI::App& command = add_command(
        line, "collect",
        {words("Copy the traces of a job from the disks of its nodes into one folder"),
         words("Each node runs it for its own folder, or one node for all folders it can read. The traces stay where\n"
               "they are. It can be repeated: what is there already is not copied again."),
         "  srun --ntasks-per-node 1 tidemark collect /scratch/run.tidejob -o /shared/run.tidejob\n"
         "  tidemark collect node0.tidejob node1.tidejob -o run.tidejob"});
    command.add_option("FOLDER", options->folders, words("Folders with traces"))->required();
    command.add_option("-o,--output", options->output, words("The folder of the job"))->required();
    set_work(line, command, [options, words](Progress&) { return run_collect(*options, words); });
}

}  // namespace tidemark::cli
