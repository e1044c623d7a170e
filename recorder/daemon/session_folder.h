// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The recorder's files in the session folder. See SESSIONS.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::recorder {

struct SessionReport {
    std::string state;  ///< "recording", "finished", "failed"
    int64_t events = 0, bytes = 0;
    std::string how_ended;
    std::vector<std::string> data_gaps;
};

class SessionFolder {
public:
    /// Does nothing if `folder` is empty, or if another user could change it: there is no session.
    SessionFolder(std::string folder, int64_t program, std::string output);
    SessionFolder(const SessionFolder&) = delete;
    SessionFolder& operator=(const SessionFolder&) = delete;
    ~SessionFolder();

    void report(const SessionReport& report);
    bool stop_wanted() const;
    /// Returns "exited 1" or "killed by signal 9" once the starter has written it.
    std::optional<std::string> exit_of_program() const;
    bool exists() const { return !folder_.empty(); }

private:
    std::string folder_;
    int64_t program_;
    std::string output_;
    int file_ = -1;  ///< PID.trace, locked while the recorder runs
};

}  // namespace tidemark::recorder
