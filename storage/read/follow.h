// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Follows a trace while it is written: the columns grow by what was committed since the last poll.
#pragma once

#include <memory>
#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Whether a trace is being written right now: its writer holds it (WAL mode, lock on the file).
/// Do not call it while this process itself writes the trace: the check releases SQLite's own locks in the process.
bool is_being_written(const std::string& path);

/// Never writes to the trace or beside it. One thread at a time.
class TraceFollower {
public:
    /// Errors: as open_trace, but a trace in which nothing was recorded yet is fine.
    static Result<TraceFollower> open(const std::string& path);
    TraceFollower(TraceFollower&&) noexcept;
    TraceFollower& operator=(TraceFollower&&) noexcept;
    ~TraceFollower();

    /// Reads what was committed since the last call. A new immutable trace, equal to what open_trace would give, or
    /// nullptr when nothing was committed. The work is in proportion to what is new and what is alive, plus one copy
    /// of the columns. Trace::committed_time says up to when it is complete. A canceled poll can be repeated.
    Result<std::shared_ptr<const Trace>> poll(Progress& progress);

    /// The writer has ended, or is gone: the last poll's trace is the final one. The file is closed then, so that its
    /// writer can make it one ordinary file.
    bool ended() const;

private:
    struct State;
    explicit TraceFollower(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace tidemark
