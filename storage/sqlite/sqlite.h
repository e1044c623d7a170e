// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// SQLite behind three small owners. Errors carry SQLite's own words and the file's name.
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

/// A prepared statement. Not thread-safe; must not outlive its Connection. Parameters and columns count from 0.
class Statement {
public:
    Statement() = default;
    Statement(sqlite3* connection, sqlite3_stmt* statement);

    Statement& bind(int parameter, int64_t value);
    Statement& bind(int parameter, double value);
    /// The text must stay alive until the statement has run.
    Statement& bind(int parameter, std::string_view text);
    Statement& bind_blob(int parameter, std::span<const std::byte> bytes);
    Statement& bind_null(int parameter);
    Statement& bind(int parameter, std::optional<int64_t> value) {
        return value ? bind(parameter, *value) : bind_null(parameter);
    }

    /// True: a row is there. False: no more rows. After an error or the last row the statement is reset.
    Result<bool> step();
    /// Runs a statement that returns no rows and resets it, keeping nothing bound.
    Status run();
    void reset();

    bool is_null(int column) const;
    int64_t integer(int column) const;
    double real(int column) const;
    std::string_view text(int column) const;
    std::span<const std::byte> blob(int column) const;

private:
    struct Finalizer {
        void operator()(sqlite3_stmt* s) const;
    };
    sqlite3* connection_ = nullptr;
    std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

enum class OpenMode {
    create,      ///< a new file; fails if one exists
    read_only,   ///< another's file: hardened against hostile content, never written
    read_left,   ///< likewise, left in WAL mode with its log beside it by a writer that is gone: the log is read in
                 ///< memory, without locks, and nothing is written beside it either
    read_alone,  ///< likewise, in WAL mode but without its log: whatever was only in the log is not there
};

/// One connection to one file. Not thread-safe; open one per thread.
class Connection {
public:
    /// `path` may be a file; the reader's side follows no links out of trust and runs no code from the file.
    static Result<Connection> open(const std::string& path, OpenMode mode);

    Status execute(const char* sql);
    Result<Statement> prepare(std::string_view sql);
    /// First column of the first row of a query that returns one.
    Result<int64_t> query_integer(std::string_view sql);
    /// Ends the connection and reports what a destructor could not.
    Status close();
    /// Called now and then during long statements; returning non-zero interrupts them.
    void on_progress(int (*interrupt)(void*), void* context);
    sqlite3* raw() const { return connection_.get(); }

private:
    struct Closer {
        void operator()(sqlite3* c) const;
    };
    std::unique_ptr<sqlite3, Closer> connection_;
};

/// The error of the connection's last call as ours: corruption and foreign files are input errors, the rest
/// environment. `subject` is a path, or what was done.
Error sqlite_error(sqlite3* connection, const SentenceValue& subject);

}  // namespace tidemark
