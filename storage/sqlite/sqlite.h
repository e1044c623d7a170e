// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Three small owning classes for SQLite. Errors contain SQLite's message and the file name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "storage/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tidemark {

/// A prepared statement. Not thread-safe. Must not outlive its Connection. Parameters and columns count from 0.
class Statement {
public:
    Statement() = default;
    Statement(sqlite3* connection, sqlite3_stmt* statement);

    Statement& bind(int parameter, int64_t value);
    Statement& bind(int parameter, double value);
    /// Binds text, which must exist until the statement has run.
    Statement& bind(int parameter, std::string_view text);
    Statement& bind_blob(int parameter, std::span<const std::byte> bytes);
    Statement& bind_null(int parameter);
    Statement& bind(int parameter, std::optional<int64_t> value) {
        return value ? bind(parameter, *value) : bind_null(parameter);
    }

    /// Returns true if there is a row, false if there are no more rows. After an error or the last row the statement is
    /// reset.
    Result<bool> step();
    /// Runs a statement that returns no rows, resets it and clears its parameters.
    Status run();
    void reset();

    bool is_null(int column) const;
    int64_t integer(int column) const;
    double real(int column) const;
    std::string_view text(int column) const;
    std::span<const std::byte> blob(int column) const;
    /// Appends all columns of the row with their types, so that different rows append different bytes.
    void append_values(std::string& bytes) const;

private:
    struct Finalizer {
        void operator()(sqlite3_stmt* s) const;
    };
    sqlite3* connection_ = nullptr;
    std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

enum class OpenMode {
    create,      ///< read and write; creates the file if there is none
    read_only,   ///< file from another source: hardened against hostile content, never written
    read_left,   ///< like read_only, for a file in WAL mode with its log, left by a writer that has ended: the log is
                 ///< read in memory, without locks and without creating files
    read_alone,  ///< like read_only, for a file in WAL mode without its log: rows that were only in the log are missing
};

/// One connection to one file. Not thread-safe. Open one per thread.
class Connection {
public:
    /// Opens a file. Read modes follow no links to untrusted places and run no code from the file.
    static Result<Connection> open(const std::string& path, OpenMode mode);

    Status execute(const char* sql);
    Result<Statement> prepare(std::string_view sql);
    /// Returns the first column of the first row of a query that returns one.
    Result<int64_t> query_integer(std::string_view sql);
    /// Closes the connection and returns errors that a destructor could not report.
    Status close();
    /// Sets a function that is called regularly during long statements. It interrupts them by returning non-zero.
    void on_progress(int (*interrupt)(void*), void* context);
    sqlite3* raw() const { return connection_.get(); }

private:
    struct Closer {
        void operator()(sqlite3* c) const;
    };
    std::unique_ptr<sqlite3, Closer> connection_;
};

/// Converts the error of the connection's last call: corruption and foreign files become input errors, the rest
/// environment errors. `subject` is a path, or the task that failed. Throws std::bad_alloc if there was no memory.
Error sqlite_error(sqlite3* connection, const SentenceValue& subject);

}  // namespace tidemark
