// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The session folder of a recording: see recorder/SESSIONS.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recorder/cli/program.h"
#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/text/words.h"

namespace tidemark::cli {

/// The report of a recorder process about its trace.
struct RecordedTrace {
    std::string output;              ///< where the trace can be opened; empty: it had no name yet
    std::string place, destination;  ///< where it lies, and where it must be at the end
    std::string state, how_ended;
    std::string failure;  ///< a sentence if the trace is not complete or not at its destination
    int64_t events = 0, bytes = 0;
    std::vector<std::string> data_gaps;

    bool is_elsewhere() const { return place != destination; }
};

/// How far a process with Python got, as the startup hook of the recorder reports it.
struct PythonProcess {
    bool imported_torch = false, initialized_cuda = false;
};

class RecordingSession {
public:
    /// Uses `folder`, which stays, or creates a temporary folder if `folder` is empty, which the destructor removes.
    /// Error (environment): the folder cannot be created.
    static Result<RecordingSession> begin(const std::string& folder);
    RecordingSession(RecordingSession&&) noexcept;
    RecordingSession& operator=(RecordingSession&&) = delete;
    ~RecordingSession();

    const std::string& folder() const { return folder_; }

    /// Reports to the recorders how the program ended.
    void program_ended(const Ending& ending) const;
    /// Waits until every recorder process has completed its trace. Returns false if the user canceled.
    bool wait_for_recorders(const Words& words, const Progress& progress);
    /// Returns the traces, sorted by name. Requires that no recorder writes.
    std::vector<RecordedTrace> traces() const;
    /// Returns the processes that ran the startup hook.
    std::vector<PythonProcess> python_processes() const;

private:
    RecordingSession(std::string folder, bool own) : folder_(std::move(folder)), own_(own) {}
    std::vector<std::string> files(const char* extension) const;
    bool is_recording() const;

    std::string folder_;
    bool own_ = false;  ///< the destructor removes the folder
};

}  // namespace tidemark::cli
