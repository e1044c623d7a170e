// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "storage/base/part_file.h"
#include "storage/base/system_reason.h"

namespace tidemark::cli {
namespace {

constexpr std::array changed_signals{SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE};

/// The signal actions at the start of this process. The programs that it runs get them, because background jobs of a
/// shell ignore Ctrl-C and programs under nohup ignore SIGHUP.
struct FirstActions {
    std::array<struct sigaction, changed_signals.size()> actions{};
    FirstActions() {
        for (size_t i = 0; i < changed_signals.size(); ++i) {
            sigaction(changed_signals[i], nullptr, &actions[i]);
        }
    }
    void restore() const {
        for (size_t i = 0; i < changed_signals.size(); ++i) {
            sigaction(changed_signals[i], &actions[i], nullptr);
        }
    }
};
const FirstActions first_actions;

std::atomic<pid_t> foreground_program{0};
static_assert(std::atomic<pid_t>::is_always_lock_free, "used by a signal handler");

/// Ignores signals of the terminal while a program runs in it, and forwards SIGTERM.
class SignalsForProgram {
public:
    SignalsForProgram() {
        for (size_t i = 0; i < changed_signals.size(); ++i) {
            struct sigaction action {};
            action.sa_flags = SA_RESTART;
            action.sa_handler = SIG_IGN;
            if (changed_signals[i] == SIGTERM) {
                action.sa_handler = [](int signal) {
                    if (const pid_t program = foreground_program; program > 0) {
                        ::kill(program, signal);
                    }
                };
            }
            sigaction(changed_signals[i], &action, &before_[i]);
        }
        sigset_t terminate;
        sigemptyset(&terminate);
        sigaddset(&terminate, SIGTERM);
        sigprocmask(SIG_BLOCK, &terminate, &mask_before_);
    }
    ~SignalsForProgram() {
        foreground_program = 0;
        for (size_t i = 0; i < changed_signals.size(); ++i) {
            sigaction(changed_signals[i], &before_[i], nullptr);
        }
        unblock();
    }
    SignalsForProgram(const SignalsForProgram&) = delete;
    SignalsForProgram& operator=(const SignalsForProgram&) = delete;

    /// Starts to forward SIGTERM, including one that arrived while the program started.
    void forward_to(pid_t program) {
        foreground_program = program;
        unblock();
    }
    void unblock() const { sigprocmask(SIG_SETMASK, &mask_before_, nullptr); }

private:
    std::array<struct sigaction, changed_signals.size()> before_{};
    sigset_t mask_before_{};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) {
        list.push_back(text.data());
    }
    list.push_back(nullptr);
    return list;
}

std::vector<std::string> environment_with(const Variables& variables) {
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (!variables.contains(text.substr(0, text.find('=')))) {
            environment.push_back(text);
        }
    }
    for (const auto& [name, value] : variables) {
        environment.push_back(name + '=' + value);
    }
    return environment;
}

Error start_error(const std::string& program, int reason) {
    if (reason == ENOENT) {
        return usage_error("There is no command \"{program}\" here; check its spelling and PATH.",
                           with("program", program));
    }
    return environment_error("{program} could not be started: {reason}.", with("program", program),
                             with("reason", system_reason(reason)));
}

/// A pipe that started programs do not inherit.
struct Pipe {
    std::array<int, 2> ends{-1, -1};
    Pipe() {
        if (pipe2(ends.data(), O_CLOEXEC) != 0) {
            ends = {-1, -1};
        }
    }
    ~Pipe() {
        close_end(0);
        close_end(1);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    void close_end(size_t end) {
        if (ends[end] >= 0) {
            ::close(std::exchange(ends[end], -1));
        }
    }
};

/// Appends what is in a pipe to `text`, and closes the pipe at its end.
void read_some(Pipe& pipe, std::string& text) {
    std::array<char, 65536> buffer;
    const ssize_t got = ::read(pipe.ends[0], buffer.data(), buffer.size());
    if (got > 0) {
        text.append(buffer.data(), static_cast<size_t>(got));
    } else if (got == 0 || errno != EINTR) {
        pipe.close_end(0);
    }
}

/// Reads until both pipes end or a limit is reached.
void read_both(Pipe& output, Pipe& errors, const CaptureLimits& limits, Captured& captured) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::seconds(limits.seconds);
    while (output.ends[0] >= 0 || errors.ends[0] >= 0) {
        std::array<pollfd, 2> pending{{{output.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}}};
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        captured.was_too_slow = left <= 0 || poll(pending.data(), pending.size(), static_cast<int>(left)) == 0;
        captured.was_too_long = captured.output.size() > limits.bytes || captured.errors.size() > limits.bytes;
        if (captured.was_too_slow || captured.was_too_long) {
            return;
        }
        if (pending[0].revents != 0) {
            read_some(output, captured.output);
        }
        if (pending[1].revents != 0) {
            read_some(errors, captured.errors);
        }
    }
}

int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

std::string Ending::text() const {
    return WIFSIGNALED(status) ? fmt::format("killed by signal {}", WTERMSIG(status))
                               : fmt::format("exited {}", WEXITSTATUS(status));
}

int Ending::exit_status() const { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

Result<Ending> run_in_foreground(const Arguments& command, const Variables& variables) {
    Arguments arguments = command;
    std::vector<std::string> environment = environment_with(variables);
    const std::vector<char*> argument_list = pointers(arguments);
    const std::vector<char*> environment_list = pointers(environment);
    Pipe failure;  // contains the error number if exec fails; closes empty if it succeeds
    SignalsForProgram signals;
    const pid_t pid = fork();
    if (pid == 0) {
        first_actions.restore();
        signals.unblock();
        execvpe(argument_list[0], argument_list.data(), environment_list.data());
        const int reason = errno;
        [[maybe_unused]] const ssize_t reported = ::write(failure.ends[1], &reason, sizeof reason);
        _exit(127);
    }
    if (pid < 0) {
        return start_error(command.front(), errno);
    }
    signals.forward_to(pid);
    failure.close_end(1);
    int reason = 0;
    const bool failed = ::read(failure.ends[0], &reason, sizeof reason) == sizeof reason;
    const int status = wait_for(pid);
    if (failed) {
        return start_error(command.front(), reason);
    }
    return Ending{pid, status};
}

std::string find_program(const std::string& name) {
    const auto usable = [](const std::string& path) {
        std::error_code error;
        return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
    };
    if (name.find('/') != name.npos) {
        return usable(name) ? name : "";
    }
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (const std::string candidate = folder + '/' + name; !name.empty() && usable(candidate)) {
            return candidate;
        }
    }
    return {};
}

Status can_be_started(const std::string& name) {
    if (!find_program(name).empty()) {
        return {};
    }
    std::error_code error;
    const bool exists = name.find('/') != name.npos && std::filesystem::exists(name, error);
    return start_error(name, exists ? EACCES : ENOENT);
}

std::string find_python() {
    const std::string python = find_program("python3");
    return python.empty() ? find_program("python") : python;
}

Result<Captured> capture(const Arguments& command, const CaptureLimits& limits) {
    Arguments arguments = command;
    const std::vector<char*> argument_list = pointers(arguments);
    Pipe output, errors;
    const pid_t pid = fork();
    if (pid == 0) {
        first_actions.restore();
        dup2(output.ends[1], STDOUT_FILENO);
        dup2(errors.ends[1], STDERR_FILENO);
        if (const int nothing = ::open("/dev/null", O_RDWR); nothing >= 0) {
            dup2(nothing, STDIN_FILENO);
        }
        execvp(argument_list[0], argument_list.data());
        _exit(127);
    }
    if (pid < 0) {
        return start_error(command.front(), errno);
    }
    output.close_end(1);
    errors.close_end(1);
    Captured captured;
    captured.ending.pid = pid;
    read_both(output, errors, limits, captured);
    if (captured.was_too_slow || captured.was_too_long) {
        ::kill(pid, SIGKILL);
    }
    captured.ending.status = wait_for(pid);
    return captured;
}

std::string output_of(const Arguments& command, int seconds) {
    const auto captured = capture(command, {seconds, SIZE_MAX});
    return captured && captured->ending.status == 0 ? captured->output : "";
}

Result<std::unique_ptr<PipedProgram>> PipedProgram::start(const Arguments& command) {
    Arguments arguments = command;
    const std::vector<char*> argument_list = pointers(arguments);
    Pipe input, output;
    const pid_t pid = fork();
    if (pid == 0) {
        first_actions.restore();
        dup2(input.ends[0], STDIN_FILENO);
        dup2(output.ends[1], STDOUT_FILENO);
        execvp(argument_list[0], argument_list.data());
        _exit(127);
    }
    if (pid < 0) {
        return start_error(command.front(), errno);
    }
    return std::unique_ptr<PipedProgram>(
        new PipedProgram(pid, std::exchange(input.ends[1], -1), std::exchange(output.ends[0], -1)));
}

PipedProgram::~PipedProgram() {
    input_ = Descriptor();
    wait_for(pid_);
}

bool PipedProgram::write(std::string_view bytes) { return write_all(input_.get(), bytes) == 0; }

std::optional<std::string> PipedProgram::read_line() {
    for (;;) {
        if (const size_t end = unread_.find('\n'); end != std::string::npos) {
            std::string line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return line;
        }
        std::array<char, 4096> buffer;
        ssize_t got = 0;
        do {
            got = ::read(output_.get(), buffer.data(), buffer.size());
        } while (got < 0 && errno == EINTR);
        if (got <= 0) {
            return std::nullopt;
        }
        unread_.append(buffer.data(), static_cast<size_t>(got));
    }
}

}  // namespace tidemark::cli
