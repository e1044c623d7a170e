// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark record: runs a program and records its GPU memory.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "recorder/cli/command.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/output.h"
#include "recorder/cli/program.h"
#include "recorder/cli/record/nothing_recorded.h"
#include "recorder/cli/record/recorder_home.h"
#include "recorder/cli/record/recording_report.h"
#include "recorder/cli/record/recording_session.h"
#include "recorder/core/rank.h"
#include "storage/base/exit_status.h"
#include "storage/base/scratch_folder.h"
#include "storage/base/size_limit.h"
#include "storage/trace/file_extensions.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> recordable{"stacks", "ops", "modules", "graph", "driver", "nvml"};

struct RecordOptions {
    Arguments command;
    std::string output = "run.tide", with = fmt::format("{}", fmt::join(recordable, ",")), detail = "adaptive", session,
                keep = std::string(default_size_limit);
    std::string ranks, nodes;
    int one_in = 1;
    bool force = false, no_command_line = false, no_source = false, paused = false, is_quiet = false;

    /// Returns whether all traces go into one folder.
    bool is_job() const { return output.ends_with(job_extension); }
};

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> words;
    std::istringstream rest(list);
    for (std::string word; std::getline(rest, word, ',');) {
        if (!word.empty()) {
            words.push_back(word);
        }
    }
    return words;
}

std::string check_ranks(const std::string& list, const Words& words) {
    const bool is_wrong = recorder::any_part(list, [](std::string_view part) {
        const size_t dash = part.find('-');
        return !recorder::as_number(part.substr(0, dash)) ||
               (dash != std::string_view::npos && !recorder::as_number(part.substr(dash + 1)));
    });
    return is_wrong ? words("\"{list}\" is no list of ranks, such as 0,17,32-39.", with("list", list)) : std::string();
}

std::string check_with(const std::string& list, const Words& words) {
    for (const std::string& word : split(list)) {
        if (std::find(recordable.begin(), recordable.end(), word) == recordable.end()) {
            return words("\"{part}\" cannot be recorded; select from {parts}.", with("part", word),
                         with("parts", fmt::format("{}", fmt::join(recordable, ", "))));
        }
    }
    return {};
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// Checks that the trace can be written, before the program runs for hours.
Status check_output(const RecordOptions& options) {
    TIDEMARK_TRY(options.is_job() ? may_write_job(options.output, options.force)
                                  : may_write_trace(options.output, options.force));
    std::error_code error;
    const fs::path output = fs::absolute(options.output);
    const fs::path folder = options.is_job() && fs::is_directory(output, error) ? output : output.parent_path();
    return may_write_in(folder.string());
}

/// If traces are recorded in scratch folders, checks that there is room for them, and reports it.
Status check_scratch(const RecordOptions& options, const Words& words) {
    const auto reason = reason_for_scratch(options.output);
    if (!reason) {
        return {};
    }
    const auto parent = find_scratch_parent();
    if (!parent) {
        return parent.error();
    }
    print_note(words,
               words("traces are recorded in {folder} and moved to their destination at the end, because {reason}.",
                     with("folder", *parent), with("reason", words.translate(*reason))));
    return {};
}

/// Sets the variable with which the CUDA driver loads the driver part, unless another tool uses the variable.
void add_driver_part(const RecorderHome& home, const Words& words, std::vector<std::string>& parts,
                     Variables& variables) {
    const auto driver = std::find(parts.begin(), parts.end(), "driver");
    if (driver == parts.end()) {
        return;
    }
    if (const std::string conflict = conflict_of_driver_part(home, words); !conflict.empty()) {
        print_note(words, conflict);
        parts.erase(driver);
        return;
    }
    const std::string ours = home.part("libtidemark_driver.so");
    std::error_code error;
    if (fs::exists(ours, error)) {
        variables["CUDA_INJECTION64_PATH"] = ours;
    }
    // With this variable Kineto releases CUPTI after profiling, so that the recorder can subscribe again.
    if (environment("TEARDOWN_CUPTI").empty()) {
        variables["TEARDOWN_CUPTI"] = "1";
    }
}

/// Returns the variables that let the program and its child processes record: see recorder/SESSIONS.md.
Variables variables_for(const RecordOptions& options, const RecorderHome& home, const std::string& session,
                        const Words& words) {
    Variables variables;
    std::vector<std::string> parts = split(options.with);
    if (!options.paused) {
        add_driver_part(home, words, parts, variables);  // else the package does it when the recording starts
    }
    const std::string python_path = environment("PYTHONPATH");
    variables["PYTHONPATH"] = home.part("startup") + (python_path.empty() ? "" : ":" + python_path);
    variables["TIDEMARK_RECORD"] = options.paused ? "paused" : "1";
    variables["TIDEMARK_OUTPUT"] = fs::absolute(options.output).lexically_normal().string();
    variables["TIDEMARK_WITH"] = fmt::format("{}", fmt::join(parts, ","));
    variables["TIDEMARK_FORCE"] = options.force ? "1" : "0";
    variables["TIDEMARK_DETAIL"] = options.detail;
    variables["TIDEMARK_KEEP"] = options.keep;
    variables["TIDEMARK_RANKS"] = options.ranks;
    variables["TIDEMARK_ONE_IN"] = fmt::to_string(options.one_in);
    variables["TIDEMARK_NODES"] = options.nodes;
    if (options.no_command_line) {
        variables["TIDEMARK_COMMAND_LINE"] = "0";
    }
    if (options.no_source) {
        variables["TIDEMARK_SOURCE"] = "0";
    }
    variables["TIDEMARK_SESSION"] = session;
    variables["TIDEMARK_STARTER"] = fmt::to_string(::getpid());
    variables["TIDEMARK_HOME"] = home.folder;
    return variables;
}

Status run_record(const RecordOptions& options, const Words& words, Progress& progress, int& exit_code) {
    if (options.command.empty()) {
        return usage_error("There is no program to run: tidemark record [-o run.tide] -- COMMAND ARGUMENTS");
    }
    const RecorderHome home = find_recorder_home();
    TIDEMARK_TRY(check_can_record(home));
    TIDEMARK_TRY(check_output(options));
    TIDEMARK_TRY(check_scratch(options, words));
    auto session = RecordingSession::begin(options.session);
    if (!session) {
        return session.error();
    }
    const auto ending = run_in_foreground(options.command, variables_for(options, home, session->folder(), words));
    if (!ending) {
        return ending.error();
    }
    session->program_ended(*ending);
    exit_code = ending->exit_status();
    const bool has_ended = session->wait_for_recorders(words, progress);
    const std::vector<RecordedTrace> traces = session->traces();
    if (!has_ended) {
        print_note(words, words("traces are still being written in the background."));
    } else if (traces.empty() && options.paused) {
        print_note(words, words("nothing was recorded: no `tidemark resume` started the recording. `tidemark ps` lists "
                                "the programs that wait for it; only Python programs do."));
    } else if (traces.empty()) {
        print_note(words, why_nothing_recorded(options.command, home, session->python_processes(), words));
    } else if (exit_code == exit_success && std::any_of(traces.begin(), traces.end(), is_unfinished)) {
        exit_code = exit_environment;
    }
    if (!traces.empty()) {
        const std::string job = options.is_job() ? fs::absolute(options.output).string() : "";
        const EndedRecording recording{traces, job, has_ended};
        print_message(options.is_quiet ? incomplete_traces(recording, words)
                                       : recording_report(recording, words, progress));
    }
    return {};
}

}  // namespace

void add_record_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<RecordOptions>();
    CLI::App& command = add_command(
        line, "record",
        {words("Run a program and record its GPU memory"),
         words(
             "The program needs no change. Each of its processes that uses the GPU writes a trace: the first one\n"
             "run.tide, further ones run.PID.tide, processes with a rank run.rank0-PID.tide. With -o run.tidejob all\n"
             "of them are in one folder, also those of several nodes, and `tidemark explain` compares them. Parts for\n"
             "--with (default: all):\n"
             "  stacks   the Python stack of each allocation\n"
             "  ops      the operator and the autograd node that allocate\n"
             "  modules  the torch.nn.Module that allocates\n"
             "  graph    the autograd graph, the memory its nodes retain, and the referrers\n"
             "  driver   memory outside the caching allocator: cuBLAS, NCCL, other libraries (uses CUPTI)\n"
             "  nvml     the used memory as nvidia-smi shows it, 5 samples per second\n"
             "The exit status is that of the program, or 128 + N if signal N killed it."),
         "  tidemark record -o run.tide -- python train.py --epochs 1\n"
         "  tidemark record -o run.tidejob -- torchrun --nproc-per-node 8 train.py\n"
         "  srun tidemark record -o /shared/run.tidejob -- python train.py\n"
         "  tidemark record --paused -- python train.py   # later: tidemark resume PID\n"
         "  tidemark doctor -- python train.py            # what can be recorded here"});
    command.add_option("-o,--output", options->output, words("The trace to write"))->capture_default_str();
    command.add_option("--with", options->with, words("The parts to record, separated by commas"))
        ->check([words](const std::string& list) { return check_with(list, words); })
        ->capture_default_str();
    command
        .add_option("--detail", options->detail,
                    words("full: write every event; adaptive: write training steps that repeat an earlier one only as "
                          "their number, times and peaks"))
        ->check(CLI::IsMember({"full", "adaptive"}))
        ->capture_default_str();
    command
        .add_option(
            "--keep", options->keep,
            words("The size below which to keep each trace, such as 500MB; the oldest details go first. all: any "
                  "size"))
        ->check([words](const std::string& size) {
            const auto bytes = parse_size_limit(size);
            return bytes ? std::string() : words.translate(bytes.error().sentence);
        })
        ->capture_default_str();
    command.add_flag("--force", options->force, words("Replace an existing trace; other files are never replaced"));
    command.add_option("--ranks", options->ranks, words("Record only these ranks of a job, such as 0,17,32-39"))
        ->check([words](const std::string& list) { return check_ranks(list, words); });
    constexpr double most_ranks = 1e6;
    command.add_option("--one-in", options->one_in, words("Record only every Nth rank of a job, from rank 0 on"))
        ->check(within(1, most_ranks, words));
    command.add_option("--nodes", options->nodes, words("Record only on these machines, by name, separated by commas"));
    command.add_flag("--no-command-line", options->no_command_line,
                     words("Leave the program's command line, which may contain secrets, out of the trace"));
    command.add_flag("--no-source", options->no_source,
                     words("Leave the lines of source files, which reports show, out of the trace"));
    command.add_flag("--paused", options->paused,
                     words("Record nothing, at no cost, until `tidemark resume PID` (Python programs only)"));
    command.add_flag("-q,--quiet", options->is_quiet,
                     words("At the end, print only what is missing from the traces; explain nothing"));
    command.add_option("--session", options->session)->group("");
    command.add_option("COMMAND", options->command, words("The program and its arguments, after --"));
    command.positionals_at_end();
    set_work(line, command, [options, words, &exit_code = line.exit_code](Progress& progress) {
        return run_record(*options, words, progress, exit_code);
    });
}

}  // namespace tidemark::cli
