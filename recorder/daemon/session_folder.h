// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The recorder's files in the session folder. See SESSIONS.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recorder/daemon/program_facts.h"

namespace tidemark::recorder {

struct SessionReport {
    std::string state;                       ///< "recording", "finished", "failed"
    std::string output, place, destination;  ///< paths of the trace: see SESSIONS.md; empty before it has a name
    std::string failure;                     ///< a sentence if the trace is not complete or not at its destination
    int64_t events = 0, bytes = 0;
    std::string how_ended;
    std::vector<std::string> data_gaps;
};

class SessionFolder {
public:
    /// Does nothing if `folder` is empty, or if another user could change it: there is no session.
    SessionFolder(std::string folder, int64_t program);
    SessionFolder(const SessionFolder&) = delete;
    SessionFolder& operator=(const SessionFolder&) = delete;
    ~SessionFolder();

    void report(const SessionReport& report);
    bool stop_wanted() const;
    /// Returns "exited 1" or "killed by signal 9" once the starter has written it.
    std::optional<std::string> exit_of_program() const;
    /// Waits a moment for the end of the session's program. Returns whether it has ended, or the session requests the
    /// end of the recording.
    bool is_ending() const;
    /// Claims the name of the session's first trace. Returns false if another process has it.
    bool claim_first_name() const;
    /// Returns what the startup hook has reported for the first of these processes that ran it.
    PythonProgress python_progress(const std::vector<pid_t>& processes) const;
    bool exists() const { return !folder_.empty(); }

private:
    std::string folder_;
    int64_t program_;
    int file_ = -1;  ///< PID.trace, locked while the recorder runs
};

}  // namespace tidemark::recorder
