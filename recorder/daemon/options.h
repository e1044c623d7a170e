// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The recorder's command line, as in SESSIONS.md.
#pragma once

#include <sys/types.h>

#include <string>

#include "storage/base/result.h"

namespace tidemark::recorder {

struct Options {
    int region_file = -1;
    std::string output;   ///< absolute
    std::string session;  ///< absolute; empty: none
    pid_t program = 0;
    bool force = false;        ///< replaces an existing trace
    bool claims_name = false;  ///< the name depends on the other processes of the session: see SESSIONS.md
};

/// Reads the command line. Errors (usage): an unknown option, or a missing or invalid value.
Result<Options> read_options(int count, char** words);

}  // namespace tidemark::recorder
