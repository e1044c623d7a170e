// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The database file of a trace: its state on disk, and a suitable connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/format/seal.h"
#include "storage/sqlite/sqlite.h"

namespace tidemark {

/// The state of a trace on disk. A trace is in WAL mode while it is written, and its writer locks it (flock).
struct TraceFile {
    enum class State {
        whole,          ///< one ordinary file
        being_written,  ///< in WAL mode, the writer is running
        left,           ///< in WAL mode with its log file, the writer has ended
        left_alone,     ///< in WAL mode without its log: copied without it, or the log was merged already
    };
    State state = State::whole;
    int64_t bytes = 0;  ///< of the trace and its log
};

/// A trace file that is open for inspection. Closing it releases the locks that SQLite has on the same file in this
/// process, so it must outlive all connections.
class WatchedFile {
public:
    /// Errors: cannot be opened (environment); not a file, empty, not SQLite (input).
    static Result<WatchedFile> open(const std::string& path);
    WatchedFile(WatchedFile&& other) noexcept : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
    WatchedFile& operator=(WatchedFile&&) = delete;
    ~WatchedFile();

    const std::string& path() const { return path_; }
    /// Returns the current state on disk.
    TraceFile look() const;
    /// Compares all bytes with `stored`, the content of table seal.
    Seal check_seal(std::span<const std::byte> stored, const Progress& progress) const;

private:
    WatchedFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
    std::string path_;
    int file_;
};

/// Returns the state of a file on disk. Errors: as WatchedFile::open.
Result<TraceFile> look_at(const std::string& path);

/// Opens a hardened connection that writes nothing, neither the trace nor other files. Long statements check
/// `progress`, which must outlive the connection or be replaced.
Result<Connection> open_database(const std::string& path, const TraceFile& file, Progress& progress);
/// Like open_database(), and checks that the file is an intact trace of a known version.
Result<Connection> open_checked(const std::string& path, const TraceFile& file, Progress& progress);
void obey_cancel(Connection& connection, Progress& progress);

/// `pragma`: quick_check or integrity_check.
Status check_pages(Connection& connection, const std::string& path, std::string_view pragma);

/// Returns the error "... is damaged: WHAT. Copy it again ...".
Error damaged(const std::string& path, const SentenceValue& what);

}  // namespace tidemark
