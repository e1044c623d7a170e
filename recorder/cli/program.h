// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Runs other programs: the user's command in the foreground, and helper programs.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/descriptor.h"
#include "storage/base/result.h"

namespace tidemark::cli {

using Arguments = std::vector<std::string>;
/// Variables to set in addition to those of this process.
using Variables = std::map<std::string, std::string>;

/// How a program ended.
struct Ending {
    pid_t pid = 0;
    int status = 0;  ///< as from waitpid

    /// "exited 1" or "killed by signal 9", as in PID.exit of a session.
    std::string text() const;
    /// Returns the exit status, or 128 + signal for a killed program, as a shell does.
    int exit_status() const;
};

/// Runs a command as a shell does, in this terminal: Ctrl-C stops the program only, and SIGTERM is forwarded to it.
/// Errors: the command does not exist (usage) or cannot be started (environment).
Result<Ending> run_in_foreground(const Arguments& command, const Variables& variables);

/// Returns the path of a command; empty if there is no such command.
std::string find_program(const std::string& name);
/// Returns the error that run_in_foreground() has for a command that is missing or not executable.
Status can_be_started(const std::string& name);
/// Returns the path of the Python that a shell would start; empty if there is none.
std::string find_python();

/// What a program wrote, and how it ended.
struct Captured {
    std::string output, errors;
    Ending ending;
    bool was_too_slow = false, was_too_long = false;  ///< it was killed: for its time, or for its output
};
struct CaptureLimits {
    int seconds = 60;
    size_t bytes = SIZE_MAX;  ///< of the output, and of the errors
};
/// Runs a program without input. Error (environment): it could not be started.
Result<Captured> capture(const Arguments& command, const CaptureLimits& limits);
/// Returns the output of a program that runs for at most `seconds`; empty if it fails.
std::string output_of(const Arguments& command, int seconds);

/// A helper program that reads what this process writes and answers with lines. Its stderr is that of this process.
class PipedProgram {
public:
    /// Error (environment): it could not be started.
    static Result<std::unique_ptr<PipedProgram>> start(const Arguments& command);
    PipedProgram(const PipedProgram&) = delete;
    PipedProgram& operator=(const PipedProgram&) = delete;
    /// Ends its input and waits for its end.
    ~PipedProgram();

    /// Returns false if the program reads no more.
    bool write(std::string_view bytes);
    /// Waits for a line. Returns it without its end; nothing if the program ended.
    std::optional<std::string> read_line();

private:
    PipedProgram(pid_t pid, int input, int output) : pid_(pid), input_(input), output_(output) {}

    pid_t pid_;
    Descriptor input_, output_;
    std::string unread_;
};

}  // namespace tidemark::cli
