// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark pause, resume and snapshot: steer the recording of a running program.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "recorder/cli/command.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/output.h"
#include "recorder/cli/record/recorded_programs.h"
#include "recorder/cli/record/start_recording.h"
#include "storage/base/units.h"
#include "storage/export/copy_recording.h"

namespace tidemark::cli {
namespace {

using std::chrono::seconds;

constexpr auto steer_patience = seconds(5);
/// Above that of the recorder, which answers in any case.
constexpr auto snapshot_patience = seconds(35);

struct SnapshotOptions {
    std::string pid, output;
    bool force = false;
};

Result<RecordedProgram> find_program_by(const std::string& pid) {
    const auto number = parse_pid(pid);
    return number ? find_recorded_program(*number) : Result<RecordedProgram>(number.error());
}

bool has_changed(const nlohmann::json& answer) { return answer.value("changed", false); }

Status run_pause(const std::string& pid, const Words& words) {
    const auto program = find_program_by(pid);
    if (!program) {
        return program.error();
    }
    if (!program->is_recorded()) {
        return usage_error("Nothing is recorded of process {pid} yet. Start it with: tidemark resume {pid}",
                           with("pid", program->pid));
    }
    const auto answer = request_of(*program, {{"request", "pause"}}, steer_patience);
    if (!answer) {
        return answer.error();
    }
    if (!has_changed(*answer)) {
        print_note(words, words("the details of process {pid} were paused already.", with("pid", program->pid)));
    }
    return print(words("Process {pid}: details are paused; allocations are still recorded, without their origins.",
                       with("pid", program->pid)) +
                 '\n');
}

Status run_resume(const std::string& pid, const Words& words) {
    const auto program = find_program_by(pid);
    if (!program) {
        return program.error();
    }
    if (!program->is_recorded()) {
        return start_recording(*program, {{"request", "record"}}, words);
    }
    const auto answer = request_of(*program, {{"request", "resume"}}, steer_patience);
    if (!answer) {
        return answer.error();
    }
    if (!has_changed(*answer)) {
        print_note(words, words("the recording of process {pid} was not paused.", with("pid", program->pid)));
    }
    return print(words("Process {pid}: all details are recorded.", with("pid", program->pid)) + '\n');
}

/// Says what the snapshot may lack.
void note_missing_scan(const nlohmann::json& answer, const Words& words) {
    if (answer.value("heap_scan", "") == "late") {
        print_note(words, words("the program made no heap scan in time, because it is busy; the snapshot has earlier "
                                "scans only."));
    }
}

Status run_snapshot(const SnapshotOptions& options, const Words& words, Progress& progress) {
    const auto program = find_program_by(options.pid);
    if (!program) {
        return program.error();
    }
    const auto trace = trace_or_pid(fmt::to_string(program->pid));
    if (!trace) {
        return trace.error();
    }
    const std::string output = options.output.empty() ? fmt::format("snapshot-{}.tide", program->pid) : options.output;
    std::error_code error;
    if (std::filesystem::equivalent(*trace, output, error)) {
        return usage_error("{path} is the trace itself; select another name with -o.", with("path", output));
    }
    TIDEMARK_TRY(may_write_trace(output, options.force));
    const auto answer = request_of(*program, {{"request", "snapshot"}}, snapshot_patience);
    if (!answer) {
        return answer.error();
    }
    note_missing_scan(*answer, words);
    const auto bytes = copy_recording(*trace, output, options.force ? IfExists::replace : IfExists::fail, progress);
    if (!bytes) {
        return bytes.error();
    }
    return print(
        fmt::format("{}: {}\n", visible_text(output),
                    words.list({words("process {pid} up to {time}", with("pid", program->pid),
                                      with("time", format_time_point(answer->value("complete_to_ns", int64_t{0})))),
                                format_bytes(*bytes)})));
}

void add_pid_option(CLI::App& command, std::string& pid, const Words& words) {
    command.add_option("PID", pid, words("A process that `tidemark ps` lists"))->required();
}

void add_snapshot_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<SnapshotOptions>();
    CLI::App& command = add_command(
        line, "snapshot",
        {words("Copy the trace of a running program up to now"),
         words("The copy is complete up to now and is one file, which can be opened, explained and shared like any\n"
               "trace. The program makes a heap scan for it first. The recording continues."),
         "  tidemark snapshot 4711 -o now.tide && tidemark explain now.tide"});
    add_pid_option(command, options->pid, words);
    command.add_option("-o,--output", options->output, words("The trace to write (default: snapshot-PID.tide)"));
    command.add_flag("--force", options->force, words("Replace an existing trace; other files are never replaced"));
    set_work(line, command, [options, words](Progress& progress) { return run_snapshot(*options, words, progress); });
}

}  // namespace

void add_steer_commands(CommandLine& line) {
    const Words& words = line.words;
    auto pid = std::make_shared<std::string>();
    CLI::App& pause = add_command(
        line, "pause",
        {words("Pause the details of a running recording"),
         words("Allocations and frees are still recorded, so that counters and lifetimes stay exact. Stacks, ops, the\n"
               "graph, categories and heap scans are not, until `tidemark resume`. The trace has a data gap for the\n"
               "pause, and `tidemark explain` does not judge memory that was allocated in it."),
         "  tidemark pause 4711"});
    add_pid_option(pause, *pid, words);
    set_work(line, pause, [pid, words](Progress&) { return run_pause(*pid, words); });
    CLI::App& resume = add_command(
        line, "resume",
        {words("Record all details of a running program again, or start a paused recording"),
         words("Ends `tidemark pause`. Starts the recording of a program that `tidemark record --paused` runs: it\n"
               "begins with the memory that is allocated then."),
         "  tidemark resume 4711"});
    add_pid_option(resume, *pid, words);
    set_work(line, resume, [pid, words](Progress&) { return run_resume(*pid, words); });
    add_snapshot_command(line);
}

}  // namespace tidemark::cli
