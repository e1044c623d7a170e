// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "tests/hostile/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tidemark::hostile {

namespace {

constexpr size_t header_size = 100, journal_mode_at = 18;  // two bytes: 1 rollback journal, 2 log (WAL)

struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalizer>;

Statement prepare(sqlite3* connection, const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(connection, sql.c_str(), -1, &statement, nullptr);
    return Statement(statement);
}

bool has_row(const Statement& statement) { return statement && sqlite3_step(statement.get()) == SQLITE_ROW; }

bool finish(sqlite3* connection, const Statement& statement) {
    if (!statement) {
        return false;
    }
    int64_t rows = 0;
    int state = 0;
    while ((state = sqlite3_step(statement.get())) == SQLITE_ROW) {
        ++rows;
    }
    return state == SQLITE_DONE && (rows > 0 || sqlite3_changes64(connection) > 0);
}

std::string text_of(const Statement& statement, int column) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement.get(), column));
    return text == nullptr ? "" : std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement.get(), column)));
}

}  // namespace

std::string Table::list(bool keys) const {
    std::string names;
    for (const TableColumn& column : columns) {
        if ((column.key > 0) == keys) {
            names += (names.empty() ? "" : ", ") + column.name;
        }
    }
    return names;
}

std::optional<Database> Database::open(std::span<const uint8_t> bytes) {
    sqlite3* connection = nullptr;
    sqlite3_open(":memory:", &connection);
    Database database(connection);
    if (bytes.size() < header_size) {
        return std::nullopt;
    }
    auto* copy = static_cast<uint8_t*>(sqlite3_malloc64(bytes.size()));
    std::memcpy(copy, bytes.data(), bytes.size());
    copy[journal_mode_at] = copy[journal_mode_at + 1] = 1;  // a database in memory has no log
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    sqlite3_deserialize(connection, "main", copy, size, size,
                        SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
    return has_row(prepare(connection, "SELECT 1 FROM sqlite_schema")) ? std::optional(std::move(database))
                                                                       : std::nullopt;
}

bool Database::run(const std::string& sql) const { return finish(connection_.get(), prepare(connection_.get(), sql)); }

bool Database::run(const std::string& sql, std::span<const uint8_t> blob) const {
    const Statement statement = prepare(connection_.get(), sql);
    if (statement) {
        sqlite3_bind_blob64(statement.get(), 1, blob.data(), blob.size(), SQLITE_TRANSIENT);
    }
    return finish(connection_.get(), statement);
}

int64_t Database::integer(const std::string& sql, int64_t otherwise) const {
    const Statement statement = prepare(connection_.get(), sql);
    return has_row(statement) ? sqlite3_column_int64(statement.get(), 0) : otherwise;
}

std::string Database::text(const std::string& sql) const {
    const Statement statement = prepare(connection_.get(), sql);
    return has_row(statement) ? text_of(statement, 0) : "";
}

Bytes Database::blob(const std::string& sql) const {
    const Statement statement = prepare(connection_.get(), sql);
    if (!has_row(statement)) {
        return {};
    }
    const auto* data = static_cast<const uint8_t*>(sqlite3_column_blob(statement.get(), 0));
    return Bytes(data, data + sqlite3_column_bytes(statement.get(), 0));
}

std::vector<Table> Database::tables() const {
    std::vector<Table> tables;
    const Statement names =
        prepare(connection_.get(), "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    while (has_row(names)) {
        Table table{text_of(names, 0), {}, 0};
        const Statement columns = prepare(
            connection_.get(), fmt::format("SELECT name, type, pk FROM pragma_table_info({})", quoted(table.name)));
        while (has_row(columns)) {
            table.columns.push_back({text_of(columns, 0), text_of(columns, 1), sqlite3_column_int(columns.get(), 2)});
        }
        table.rows = integer(fmt::format("SELECT count(*) FROM {}", table.name));
        tables.push_back(std::move(table));
    }
    return tables;
}

bool Database::has(const std::string& table) const {
    return integer(fmt::format("SELECT count(*) FROM sqlite_schema WHERE name = {}", quoted(table))) > 0;
}

bool Database::copy_to(sqlite3* other) const {
    sqlite3_backup* backup = sqlite3_backup_init(other, "main", connection_.get(), "main");
    return backup != nullptr && sqlite3_backup_step(backup, -1) == SQLITE_DONE &&
           sqlite3_backup_finish(backup) == SQLITE_OK;
}

Bytes Database::bytes(std::span<const uint8_t> was) const {
    sqlite3_int64 size = 0;
    uint8_t* data = sqlite3_serialize(connection_.get(), "main", &size, 0);
    if (data == nullptr) {
        return Bytes(was.begin(), was.end());
    }
    Bytes bytes(data, data + size);
    sqlite3_free(data);
    std::copy_n(was.begin() + journal_mode_at, 2, bytes.begin() + journal_mode_at);
    return bytes;
}

std::string quoted(std::string_view text) {
    std::string literal = "'";
    for (const char c : text) {
        literal += c == '\'' ? "''" : std::string(1, c);
    }
    return literal + "'";
}

}  // namespace tidemark::hostile
