// Running other programs: the user's command in the foreground, and small questions to helpers.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace tidemark::cli {

using Arguments = std::vector<std::string>;
/// Variables to set, beside those this process has.
using Variables = std::map<std::string, std::string>;

/// How a program ended.
struct Ending {
    pid_t pid = 0;
    int status = 0;  ///< as waitpid says it

    /// "exited 1" or "killed by signal 9": what PID.exit of a session holds.
    std::string text() const;
    /// As a shell gives it: 128 + signal for a killed one.
    int exit_status() const;
};

/// Runs a command as a shell would, in this terminal and with its keys: Ctrl-C reaches the program and not us, SIGTERM
/// is handed on. Error: it could not be started.
Result<Ending> run_in_foreground(const Arguments& command, const Variables& variables);

/// The path that a command's name stands for; empty: there is none.
std::string find_program(const std::string& name);

/// What a short-lived program prints, for at most `seconds`; empty when it fails.
std::string output_of(const Arguments& command, int seconds);

}  // namespace tidemark::cli
