// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The exit statuses of the command line tool and the window. Scripts depend on these numbers: never change them.
#pragma once

#include "storage/base/result.h"

namespace tidemark {

constexpr int exit_success = 0;
constexpr int exit_usage = 2;        ///< the command line is wrong, or names something that does not exist
constexpr int exit_input = 3;        ///< the input file cannot be used: wrong format, truncated, corrupt, too new
constexpr int exit_environment = 4;  ///< caused by the environment: missing file, permission, full disk, no viewer
constexpr int exit_limit = 5;        ///< check: a limit is exceeded, or the trace lacks the data to decide
constexpr int exit_canceled = 130;   ///< stopped with Ctrl-C

constexpr int exit_status(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::usage: return exit_usage;
        case ErrorKind::input: return exit_input;
        case ErrorKind::environment: return exit_environment;
        case ErrorKind::canceled: return exit_canceled;
    }
    return exit_input;
}

}  // namespace tidemark
