// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Follows a trace while it is written. Each poll adds the rows that were committed since the previous one.
#pragma once

#include <memory>
#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Returns whether a trace is being written now: it is in WAL mode and its writer has locked it. Must not be called
/// while this process writes the trace, because the check releases SQLite's own locks in the process.
bool is_being_written(const std::string& path);

/// Writes neither the trace nor other files. Used by one thread at a time.
class TraceFollower {
public:
    /// Errors: as open_trace, but a trace without any records is allowed.
    static Result<TraceFollower> open(const std::string& path);
    TraceFollower(TraceFollower&&) noexcept;
    TraceFollower& operator=(TraceFollower&&) noexcept;
    ~TraceFollower();

    /// Reads the rows that were committed since the last call. Returns a new immutable trace, equal to the result of
    /// open_trace, or nullptr if nothing was committed. The time is proportional to the new rows and the alive
    /// allocations, plus one copy of the columns. The trace is complete up to Trace::committed_time. A canceled poll
    /// can be repeated.
    Result<std::shared_ptr<const Trace>> poll(Progress& progress);

    /// Returns whether the writer has ended; the trace of the last poll is then final, and the file is closed, so that
    /// the writer can convert it to one ordinary file.
    bool ended() const;

private:
    struct State;
    explicit TraceFollower(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace tidemark
