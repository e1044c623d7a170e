// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reads rows of a trace's tables one by one; the caller checks each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/progress.h"
#include "storage/read/database.h"
#include "storage/sqlite/sqlite.h"

namespace tidemark {

/// One connection to one file, with cancellation. Errors contain the file name.
class RowSource {
public:
    RowSource(Connection& connection, const std::string& path, Progress& progress)
        : connection_(connection), path_(path), progress_(progress) {}

    const std::string& path() const { return path_; }
    Connection& connection() { return connection_; }
    Progress& progress() { return progress_; }

    Error explain(Error error) const {
        if (error.kind != ErrorKind::canceled) {
            error.sentence = Sentence("{path}: {sentence}", with("path", path_), with("sentence", error.sentence));
        }
        return error;
    }

    Result<Statement> prepare(std::string_view sql) {
        auto statement = connection_.prepare(sql);
        return statement ? std::move(statement) : Result<Statement>(explain(statement.error()));
    }

    /// Calls row(statement) for each row. It returns whether the row is valid.
    template <class Row>
    Status each(std::string_view sql, Row&& row) {
        auto statement = prepare(sql);
        return statement ? drain(*statement, sql, row) : Status(statement.error());
    }
    template <class Row>
    Status each(std::string_view sql, int64_t parameter, Row&& row) {
        auto statement = prepare(sql);
        return statement ? drain(statement->bind(0, parameter), sql, row) : Status(statement.error());
    }

    /// Looks up rows by id, the only parameter of the query. Calls row(statement, index) for each that exists.
    template <class Row>
    Status look_up(std::string_view sql, const std::vector<std::pair<int64_t, size_t>>& ids, Row&& row) {
        if (ids.empty()) {
            return {};
        }
        auto statement = prepare(sql);
        if (!statement) {
            return statement.error();
        }
        for (const auto& [id, index] : ids) {
            const size_t at = index;
            TIDEMARK_TRY(drain(statement->bind(0, id), sql, [&](Statement& found) { return row(found, at); }));
        }
        return {};
    }

private:
    template <class Row>
    Status drain(Statement& statement, std::string_view sql, Row&& row) {
        for (;;) {
            const auto more = statement.step();
            if (!more) {
                return explain(more.error());
            }
            if (!*more) {
                return {};
            }
            if (!row(statement)) {
                return damaged(path_, Sentence("a row contradicts the others (in: {query})", with("query", sql)));
            }
            if (progress_.canceled) {
                return canceled_error();
            }
        }
    }

    Connection& connection_;
    const std::string& path_;
    Progress& progress_;
};

/// The reading position in a table that grows: the last row that was read, and the earlier rows that may still change.
struct TableTail {
    int64_t last_id = INT64_MIN;
    std::vector<std::pair<int64_t, size_t>> open;  ///< id, index
};

/// Reads the new rows of a table, and rereads the open ones. A condition on the id is appended to `select`, whose first
/// column must be the id. decode(row, value, index) returns whether the row is valid; is_open(value) returns whether
/// the row may change.
template <class T, class Decode, class IsOpen>
Status read_tail(RowSource& source, const std::string& select, TableTail& tail, std::vector<T>& rows, Decode&& decode,
                 IsOpen&& is_open) {
    const auto before = std::exchange(tail.open, {});
    const auto keep_if_open = [&](int64_t id, size_t index) {
        if (is_open(rows[index])) {
            tail.open.emplace_back(id, index);
        }
    };
    TIDEMARK_TRY(source.look_up(select + " id=?", before, [&](Statement& row, size_t index) {
        const bool sane = decode(row, rows[index], index);
        keep_if_open(row.integer(0), index);
        return sane;
    }));
    return source.each(select + " id>? ORDER BY id", tail.last_id, [&](Statement& row) {
        T value{};
        if (!decode(row, value, rows.size())) {
            return false;
        }
        rows.push_back(std::move(value));
        tail.last_id = row.integer(0);
        keep_if_open(tail.last_id, rows.size() - 1);
        return true;
    });
}

/// Like above, for rows that never change.
template <class T, class Decode>
Status read_tail(RowSource& source, const std::string& select, TableTail& tail, std::vector<T>& rows, Decode&& decode) {
    return read_tail(source, select, tail, rows, decode, [](const T&) { return false; });
}

}  // namespace tidemark
