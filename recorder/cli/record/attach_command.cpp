// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// tidemark attach: records a program that runs already.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "recorder/cli/command.h"
#include "recorder/cli/file_kind.h"
#include "recorder/cli/output.h"
#include "recorder/cli/program.h"
#include "recorder/cli/record/recorded_programs.h"
#include "recorder/cli/record/recorder_home.h"
#include "recorder/cli/record/start_recording.h"
#include "recorder/core/python_options.h"
#include "storage/base/part_file.h"
#include "storage/base/shell_word.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A program runs the script between two instructions of Python: not before a long call into C++ has returned.
constexpr auto attach_patience = seconds(20);

struct AttachOptions {
    std::string pid, output;
    bool force = false, hook = false;
};

struct Interpreter {
    std::string path, version;
    bool has_remote_exec = false;
};

/// Returns the interpreter of a process. Errors (environment): it is no Python program, or cannot be read.
Result<Interpreter> interpreter_of_process(int64_t pid) {
    std::error_code error;
    Interpreter interpreter;
    interpreter.path = fs::read_symlink(fmt::format("/proc/{}/exe", pid), error).string();
    if (error || !recorder::is_python(interpreter.path)) {
        return environment_error(
            "Process {pid} cannot be attached to, because it is not a Python program. Start it with `tidemark record`.",
            with("pid", pid));
    }
    const std::string about =
        output_of({interpreter.path, "-I", "-S", "-c",
                   "import sys; print('%d.%d' % sys.version_info[:2], int(hasattr(sys, 'remote_exec')))"},
                  10);
    std::istringstream fields(about);
    fields >> interpreter.version >> interpreter.has_remote_exec;
    return interpreter;
}

/// Returns the program's environment variables that let it wait for `tidemark attach`.
std::string hook_text(const RecorderHome& home) {
    return fmt::format("export TIDEMARK_ATTACHABLE=1 PYTHONPATH={}${{PYTHONPATH:+:$PYTHONPATH}}\n",
                       shell_word(home.part("startup")));
}

Error too_old(int64_t pid, const Interpreter& interpreter) {
    return environment_error(
        "Process {pid} cannot be attached to, because it runs Python {version}, and Python before 3.14 needs the "
        "startup hook: before the program starts, run: eval \"$(tidemark attach --hook)\"",
        with("pid", pid), with("version", interpreter.version.empty() ? "?" : interpreter.version));
}

/// The script that the program runs: it listens, and the request to record follows.
std::string script_text(const RecorderHome& home, const std::string& folder) {
    const auto literal = [](const std::string& text) { return nlohmann::json(text).dump(-1, ' ', true); };
    return fmt::format(
        "import os, sys\n"
        "os.environ['TIDEMARK_RUNTIME'] = {}\n"
        "sys.path.insert(0, {})\n"
        "try:\n"
        "    import tidemark_listener\n"
        "finally:\n"
        "    del sys.path[0]\n"
        "tidemark_listener.listen({}, 'attachable')\n",
        literal(folder), literal(home.part("startup")), literal(home.part("python")));
}

Error refused(int64_t pid, const std::string& details) {
    if (details.starts_with("PermissionError") || details.find("ermission") != std::string::npos) {
        return environment_error(
            "Process {pid} cannot be attached to, because the system does not permit to write its memory ({details}). "
            "Run the command as root, or allow it with: sysctl kernel.yama.ptrace_scope=0",
            with("pid", pid), with("details", details));
    }
    return environment_error(
        "Process {pid} cannot be attached to, because its Python refuses ({details}). PYTHON_DISABLE_REMOTE_DEBUG and "
        "-X disable-remote-debug forbid it.",
        with("pid", pid), with("details", details.empty() ? "?" : details));
}

/// Lets the program listen, by Python's remote execution.
Status make_it_listen(int64_t pid, const Interpreter& interpreter, const RecorderHome& home) {
    const auto folder = recorder::create_runtime_folder();
    if (!folder) {
        return folder.error();
    }
    const std::string script = fmt::format("{}/{}.attach.py", *folder, pid);
    TIDEMARK_TRY(write_file(script, script_text(home, *folder), FileAccess::owner));
    const std::string answer = output_of({interpreter.path, "-I", "-S", "-c",
                                          "import sys\n"
                                          "try:\n"
                                          "    sys.remote_exec(int(sys.argv[1]), sys.argv[2])\n"
                                          "    print('accepted', end='')\n"
                                          "except Exception as error:\n"
                                          "    print(f'{type(error).__name__}: {error}', end='')\n",
                                          fmt::to_string(pid), script},
                                         20);
    const std::string socket = recorder::socket_path(*folder, pid, recorder::Listener::program);
    std::error_code error;
    const auto deadline = std::chrono::steady_clock::now() + attach_patience;
    while (answer == "accepted" && !fs::exists(socket, error) && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(milliseconds(20));
    }
    fs::remove(script, error);
    if (answer != "accepted") {
        return refused(pid, answer);
    }
    return fs::exists(socket, error)
               ? Status()
               : environment_error(
                     "Process {pid} did not run Python code for {seconds} seconds: it is in a call into C++, or "
                     "suspended. Try again later.",
                     with("pid", pid), with("seconds", attach_patience.count()));
}

/// Returns the program once it listens.
Result<RecordedProgram> listening_program(int64_t pid) {
    const auto owner = owner_of(pid);
    if (!owner) {
        return owner.error();
    }
    TIDEMARK_TRY(check_may_steer(pid, *owner));
    const std::string folder = recorder::runtime_folder(*owner);
    std::error_code error;
    for (const auto listener : {recorder::Listener::recorder, recorder::Listener::program}) {
        if (fs::exists(recorder::socket_path(folder, pid, listener), error)) {
            auto program = find_recorded_program(pid);
            if (program || program.error().kind != ErrorKind::usage) {
                return program;
            }
        }
    }
    const auto interpreter = interpreter_of_process(pid);
    if (!interpreter) {
        return interpreter.error();
    }
    if (!interpreter->has_remote_exec) {
        return too_old(pid, *interpreter);
    }
    if (*owner != ::geteuid()) {
        return environment_error("Process {pid} belongs to another user. Run the command as that user, with sudo -u.",
                                 with("pid", pid));
    }
    const RecorderHome home = find_recorder_home();
    TIDEMARK_TRY(check_can_record(home));
    TIDEMARK_TRY(make_it_listen(pid, *interpreter, home));
    return find_recorded_program(pid);
}

Status run_attach(const AttachOptions& options, const Words& words) {
    if (options.hook) {
        return print(hook_text(find_recorder_home()));
    }
    const auto pid = parse_pid(options.pid);
    if (!pid) {
        return pid.error();
    }
    const std::string output =
        fs::absolute(options.output.empty() ? fmt::format("run.{}.tide", *pid) : options.output).lexically_normal();
    TIDEMARK_TRY(may_write_trace(output, options.force));
    const auto program = listening_program(*pid);
    if (!program) {
        return program.error();
    }
    if (program->is_recorded()) {
        return usage_error("Process {pid} is already being recorded into {trace}.", with("pid", *pid),
                           with("trace", program->trace));
    }
    return start_recording(*program, {{"request", "record"}, {"output", output}, {"force", options.force}}, words);
}

}  // namespace

void add_attach_command(CommandLine& line) {
    const Words& words = line.words;
    auto options = std::make_shared<AttachOptions>();
    CLI::App& command = add_command(
        line, "attach",
        {words("Record a Python program that runs already"),
         words("The recording begins with the memory that is allocated then. Python 3.14 and later can be attached to\n"
               "at any time. Earlier versions need the startup hook, which costs nothing until then; --hook prints\n"
               "the shell command that sets it for the programs that start later."),
         "  tidemark attach 4711 -o run.tide\n"
         "  eval \"$(tidemark attach --hook)\"; python train.py"});
    CLI::Option* pid = command.add_option("PID", options->pid, words("A Python process of this user"));
    command.add_option("-o,--output", options->output, words("The trace to write (default: run.PID.tide)"));
    command.add_flag("--force", options->force, words("Replace an existing trace; other files are never replaced"));
    command.add_flag("--hook", options->hook, words("Print the shell command that sets the startup hook, and exit"))
        ->excludes(pid);
    set_work(line, command, [options, words](Progress&) { return run_attach(*options, words); });
}

}  // namespace tidemark::cli
