// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A source file of the recorded program, as the program read it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "storage/trace/source_text.h"

namespace tidemark::recorder {

/// Returns the wall-clock time at which a process started, in ns; 0 if it is gone.
int64_t start_of_process(pid_t pid);

/// Returns the working folder of a process; empty if it is gone.
std::string working_folder_of(pid_t pid);

struct SourceFile {
    enum class State : uint8_t {
        read,        ///< as much of it as is read of any file
        unreadable,  ///< it does not exist, is no regular file, or is not text
        changed,     ///< after `unchanged_since`, so the program may have read another text
    };
    State state = State::unreadable;
    std::vector<SourceLine> lines;
};

/// Reads the lines with these numbers, cut to what a trace can have. Never waits for another program.
/// `unchanged_since`: ns of the wall clock.
SourceFile read_source_file(const std::string& path, const std::set<int32_t>& numbers, int64_t unchanged_since);

}  // namespace tidemark::recorder
