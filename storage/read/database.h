// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The database behind a trace: how it lies on the disk, and a connection that suits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/sqlite/sqlite.h"

namespace tidemark {

/// A trace is in WAL mode while it is written, and its writer locks it (flock).
struct TraceFile {
    enum class State {
        whole,          ///< one ordinary file
        being_written,  ///< in WAL mode, and its writer is at work
        left,           ///< in WAL mode, its writer is gone, its log lies beside it
        left_alone,     ///< in WAL mode without its log: copied without it, or everything was taken over already
    };
    State state = State::whole;
    int64_t bytes = 0;  ///< of the trace and its log
};

/// A trace's file, open for looking at it. Closing it ends the locks that SQLite holds on the same file in this
/// process: it must outlive connections that are kept.
class WatchedFile {
public:
    /// Errors: cannot be opened (environment); not a file, empty, not SQLite (input).
    static Result<WatchedFile> open(const std::string& path);
    WatchedFile(WatchedFile&& other) noexcept : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
    WatchedFile& operator=(WatchedFile&&) = delete;
    ~WatchedFile();

    const std::string& path() const { return path_; }
    /// How it lies on the disk now.
    TraceFile look() const;

private:
    WatchedFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
    std::string path_;
    int file_;
};

/// Errors: as WatchedFile::open.
Result<TraceFile> look_at(const std::string& path);

/// A hardened connection that writes nothing, not even beside the trace; long statements obey `progress`, which must
/// outlive it or be replaced.
Result<Connection> open_database(const std::string& path, const TraceFile& file, Progress& progress);
/// Likewise, once it is proven to be a trace of a version we know, and sound.
Result<Connection> open_checked(const std::string& path, const TraceFile& file, Progress& progress);
void obey_cancel(Connection& connection, Progress& progress);

/// `pragma`: quick_check or integrity_check.
Status check_pages(Connection& connection, const std::string& path, std::string_view pragma);

/// "... is damaged: WHAT. Copy it again ..."
Error damaged(const std::string& path, const SentenceValue& what);

}  // namespace tidemark
