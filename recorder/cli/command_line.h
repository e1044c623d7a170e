// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The whole program as a function, which tests call without starting a process.
#pragma once

namespace tidemark::cli {

/// Runs the command that the arguments name, prints to stdout and stderr, and returns the exit status. Sets handlers of
/// SIGINT, SIGTERM and SIGPIPE.
int run_command_line(int argc, char** argv);

}  // namespace tidemark::cli
