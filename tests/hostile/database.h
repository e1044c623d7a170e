// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A trace as a database in memory that accepts every change: errors of statements are expected and ignored.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/hostile/trace_mutator.h"

namespace tidemark::hostile {

struct TableColumn {
    std::string name, type;
    int key = 0;  ///< its position in the primary key from 1; 0: none
};

struct Table {
    std::string name;
    std::vector<TableColumn> columns;
    int64_t rows = 0;

    /// Returns "a, b" of the columns that are in the key, or of those that are not.
    std::string list(bool keys) const;
};

class Database {
public:
    /// Returns nothing if the bytes are no database that SQLite opens.
    static std::optional<Database> open(std::span<const uint8_t> bytes);

    /// Returns whether the statement ran without an error and changed or returned something.
    bool run(const std::string& sql) const;
    bool run(const std::string& sql, std::span<const uint8_t> blob) const;
    int64_t integer(const std::string& sql, int64_t otherwise = 0) const;
    std::string text(const std::string& sql) const;
    Bytes blob(const std::string& sql) const;

    /// Returns the ordinary tables.
    std::vector<Table> tables() const;
    bool has(const std::string& table) const;
    /// Replaces the content of another connection's database. Returns whether that worked.
    bool copy_to(sqlite3* other) const;
    /// Returns the file of this database. `was`: the file it was opened from, whose journal mode it keeps.
    Bytes bytes(std::span<const uint8_t> was) const;

private:
    struct Closer {
        void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
    };
    explicit Database(sqlite3* connection) : connection_(connection) {}
    std::unique_ptr<sqlite3, Closer> connection_;
};

/// Returns a text as an SQL literal.
std::string quoted(std::string_view text);

}  // namespace tidemark::hostile
