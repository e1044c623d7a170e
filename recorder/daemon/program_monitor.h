// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Checks whether the recorded program still runs.
#pragma once

#include <sys/types.h>

namespace tidemark::recorder {

class ProgramMonitor {
public:
    explicit ProgramMonitor(pid_t pid);
    ProgramMonitor(const ProgramMonitor&) = delete;
    ProgramMonitor& operator=(const ProgramMonitor&) = delete;
    ~ProgramMonitor();

    /// Returns true once the process has ended.
    bool is_gone();

private:
    pid_t pid_;
    int file_;  ///< pidfd; -1: the kernel has none
    bool gone_ = false;
};

}  // namespace tidemark::recorder
