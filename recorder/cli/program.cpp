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

std::string find_python() {
    const std::string python = find_program("python3");
    return python.empty() ? find_program("python") : python;
}

std::string output_of(const Arguments& command, int seconds) {
    Arguments arguments = command;
    const std::vector<char*> argument_list = pointers(arguments);
    Pipe output;
    const pid_t pid = fork();
    if (pid == 0) {
        first_actions.restore();
        dup2(output.ends[1], STDOUT_FILENO);
        if (const int nothing = ::open("/dev/null", O_RDWR); nothing >= 0) {
            dup2(nothing, STDIN_FILENO);
            dup2(nothing, STDERR_FILENO);
        }
        execvp(argument_list[0], argument_list.data());
        _exit(127);
    }
    if (pid < 0) {
        return {};
    }
    output.close_end(1);
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::seconds(seconds);
    std::string text;
    std::array<char, 4096> buffer;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd pending{output.ends[0], POLLIN, 0};
        if (left <= 0 || poll(&pending, 1, static_cast<int>(left)) == 0) {
            ::kill(pid, SIGKILL);
            break;
        }
        const ssize_t got = ::read(output.ends[0], buffer.data(), buffer.size());
        if (got <= 0) {
            break;
        }
        text.append(buffer.data(), static_cast<size_t>(got));
    }
    return wait_for(pid) == 0 ? text : "";
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
