// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/query/query.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>

#include "storage/query/query_connection.h"
#include "storage/query/query_names.h"
#include "storage/read/database.h"
#include "storage/read/trace_connection.h"

namespace tidemark {

namespace {

using Clock = std::chrono::steady_clock;

struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using QueryStatement = std::unique_ptr<sqlite3_stmt, Finalize>;

/// Stops a statement that is canceled or exceeds a limit. SQLite asks every few instructions, because one instruction
/// can take 16 MiB.
class Watch {
public:
    static constexpr int instructions = 200;
    enum class Stop { none, canceled, time, memory };

    Watch(Connection& connection, const QueryLimits& limits, std::chrono::milliseconds time, const Progress& progress)
        : progress_(progress), memory_(sqlite3_memory_used() + limits.memory), deadline_(Clock::now() + time) {
        sqlite3_progress_handler(
            connection.raw(), instructions, [](void* watch) { return static_cast<Watch*>(watch)->look() ? 1 : 0; },
            this);
    }
    Stop stop() const { return stop_; }

private:
    bool look() {
        stop_ = progress_.canceled                ? Stop::canceled
                : sqlite3_memory_used() > memory_ ? Stop::memory
                : Clock::now() > deadline_        ? Stop::time
                                                  : Stop::none;
        return stop_ != Stop::none;
    }

    const Progress& progress_;
    int64_t memory_;
    Clock::time_point deadline_;
    Stop stop_ = Stop::none;
};

std::string view_names() {
    std::string names;
    for (const QueryTable& table : query_tables()) {
        if (table.is_view) {
            names += (names.empty() ? "" : ", ") + table.name;
        }
    }
    return names;
}

/// Returns the text between a prefix and a suffix of SQLite's message.
std::optional<std::string> between(std::string_view message, std::string_view prefix, std::string_view suffix = {}) {
    if (!message.starts_with(prefix) || !message.ends_with(suffix) || message.size() < prefix.size() + suffix.size()) {
        return std::nullopt;
    }
    message.remove_prefix(prefix.size());
    message.remove_suffix(suffix.size());
    return std::string(message);
}

/// Returns SQLite's message with the fix of frequent mistakes.
SentenceValue explained(std::string_view message) {
    if (const auto table = between(message, "no such table: ")) {
        return Sentence(
            "There is no table or view \"{name}\". The views are {views}; the list of tables has the others",
            with("name", *table), with("views", view_names()));
    }
    if (const auto column = between(message, "no such column: ")) {
        return Sentence(
            "There is no column \"{name}\". The list of tables has the columns of each; texts are in 'single quotes'",
            with("name", *column));
    }
    if (const auto function = between(message, "no such function: ")) {
        return Sentence("There is no function \"{name}\"", with("name", *function));
    }
    if (const auto token = between(message, "near \"", "\": syntax error")) {
        return Sentence("Syntax error near \"{token}\"", with("token", *token));
    }
    if (message == "incomplete input") {
        return Sentence("The query is incomplete");
    }
    if (message == "string or blob too big") {
        return Sentence("A text or blob of the query is longer than 16 MiB");
    }
    return std::string(message);
}

Sentence denied_sentence(const Denied& denied) {
    switch (denied.what) {
        case Denied::What::writing: break;
        case Denied::What::table:
            return Sentence("\"{name}\" is not a documented view or table; queries read no others",
                            with("name", denied.name));
        case Denied::What::function:
            return Sentence("The function \"{name}\" is not available in queries", with("name", denied.name));
    }
    return Sentence("A query only reads: begin it with SELECT or WITH");
}

/// Returns the error with its place as line and column, both from 1.
QueryFailure wrong(std::string_view sql, const SentenceValue& problem, std::optional<size_t> offset = std::nullopt) {
    if (!offset) {
        return {usage_error("{problem}.", with("problem", problem)), offset};
    }
    const std::string_view before = sql.substr(0, std::min(*offset, sql.size()));
    const size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };  // of a character
    return {usage_error("Line {line}, column {column}: {problem}.",
                        with("line", std::count(before.begin(), before.end(), '\n') + 1),
                        with("column", std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_start),
                                                     before.end(), is_start) +
                                           1),
                        with("problem", problem)),
            offset};
}

/// One query on one connection.
class Run {
public:
    Run(QueryConnection& connection, const std::string& path, std::string_view sql, const QueryLimits& limits,
        const Watch& watch)
        : connection_(connection), path_(path), sql_(sql), limits_(limits), watch_(watch) {}

    QueryOutcome rows() {
        const auto start = Clock::now();
        auto statement = prepare();
        if (!statement) {
            return tl::unexpected(statement.error());
        }
        QueryRows rows;
        add_columns(**statement, rows);
        int code = SQLITE_ROW;
        while (rows.cut == QueryCut::none && (code = sqlite3_step(statement->get())) == SQLITE_ROW) {
            add_row(**statement, rows);
        }
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            return tl::unexpected(failure(code));
        }
        rows.duration = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
        return rows;
    }

private:
    using Prepared = tl::expected<QueryStatement, QueryFailure>;

    Prepared prepare() {
        const char* rest = nullptr;
        auto statement = prepare_at(sql_, &rest);
        if (!statement) {
            return statement;
        }
        if (*statement == nullptr) {
            return tl::unexpected(wrong(sql_, Sentence("The query is empty")));
        }
        const auto rest_at = static_cast<size_t>(rest - sql_.data());
        const char* end = nullptr;
        const auto second = prepare_at(sql_.substr(rest_at), &end);
        if (!second || *second != nullptr) {
            return tl::unexpected(
                wrong(sql_, Sentence("A query is one statement: remove what follows the semicolon"), rest_at));
        }
        if (sqlite3_bind_parameter_count(statement->get()) > 0) {
            return tl::unexpected(
                wrong(sql_, Sentence("Parameters such as ? have no value here: write the value itself")));
        }
        if (sqlite3_stmt_readonly(statement->get()) == 0) {
            return tl::unexpected(wrong(sql_, denied_sentence({})));
        }
        return statement;
    }

    Prepared prepare_at(std::string_view sql, const char** rest) {
        connection_.forget_denied();
        sqlite3_stmt* statement = nullptr;
        const int code =
            sqlite3_prepare_v2(connection_.raw(), sql.data(), static_cast<int>(sql.size()), &statement, rest);
        return code == SQLITE_OK ? Prepared(QueryStatement(statement)) : Prepared(tl::unexpected(failure(code)));
    }

    QueryFailure failure(int code) const {
        switch (code & 0xff) {
            case SQLITE_AUTH: return wrong(sql_, denied_sentence(connection_.denied().value_or(Denied())));
            case SQLITE_INTERRUPT: return stopped();
            case SQLITE_NOMEM: return too_much_memory();
            case SQLITE_ERROR:
            case SQLITE_TOOBIG:
            case SQLITE_MISMATCH:
            case SQLITE_RANGE: break;
            default: return {sqlite_error(connection_.raw(), path_), std::nullopt};
        }
        if (connection_.denied()) {
            return wrong(sql_, denied_sentence(*connection_.denied()));
        }
        const int offset = sqlite3_error_offset(connection_.raw());
        return wrong(sql_, explained(sqlite3_errmsg(connection_.raw())),
                     offset >= 0 ? std::optional(static_cast<size_t>(offset)) : std::nullopt);
    }

    QueryFailure stopped() const {
        switch (watch_.stop()) {
            case Watch::Stop::none:
            case Watch::Stop::canceled: break;
            case Watch::Stop::memory: return too_much_memory();
            case Watch::Stop::time:
                return wrong(sql_,
                             Sentence("The query takes longer than its limit of time and was stopped. Make it read "
                                      "fewer rows, with WHERE; a recursive WITH needs an end"));
        }
        return {canceled_error(), std::nullopt};
    }

    QueryFailure too_much_memory() const {
        return wrong(sql_, Sentence("The query takes more than {bytes} of memory and was stopped. Make it sort or "
                                    "group fewer rows, with WHERE",
                                    with("bytes", format_bytes(limits_.memory))));
    }

    static void add_columns(sqlite3_stmt& statement, QueryRows& rows) {
        struct Origin {
            std::string_view table, column;
            bool operator==(const Origin&) const = default;
        };
        constexpr Origin ids[] = {{"allocation", "id"},
                                  {"saved_tensor", "allocation"},
                                  {"autograd_node", "output"},
                                  {"referrer", "allocation"},
                                  {"allocation_category", "allocation"}};
        for (int column = 0; column < sqlite3_column_count(&statement); ++column) {
            const char* name = sqlite3_column_name(&statement, column);
            const char* table = sqlite3_column_table_name(&statement, column);
            const char* origin = sqlite3_column_origin_name(&statement, column);
            const Origin from{table != nullptr ? table : "", origin != nullptr ? origin : ""};
            rows.columns.push_back(
                {name != nullptr ? name : "", std::find(std::begin(ids), std::end(ids), from) != std::end(ids)});
        }
    }

    static QueryValue value_of(sqlite3_stmt& statement, int column) {
        switch (sqlite3_column_type(&statement, column)) {
            case SQLITE_INTEGER: return int64_t{sqlite3_column_int64(&statement, column)};
            case SQLITE_FLOAT: return sqlite3_column_double(&statement, column);
            case SQLITE_BLOB: return BlobSize{sqlite3_column_bytes(&statement, column)};
            case SQLITE_TEXT: {
                const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(&statement, column));
                return std::string(text != nullptr ? text : "",
                                   static_cast<size_t>(sqlite3_column_bytes(&statement, column)));
            }
            default: return std::monostate();
        }
    }

    /// Adds the row if the limits permit.
    void add_row(sqlite3_stmt& statement, QueryRows& rows) {
        const size_t before = rows.values.size();
        for (int column = 0; column < sqlite3_column_count(&statement); ++column) {
            rows.values.push_back(value_of(statement, column));
            const auto* text = std::get_if<std::string>(&rows.values.back());
            bytes_ += static_cast<int64_t>(sizeof(QueryValue) + (text != nullptr ? text->size() : 0));
        }
        rows.cut = rows.row_count() > limits_.rows ? QueryCut::rows
                   : bytes_ > limits_.bytes        ? QueryCut::bytes
                                                   : QueryCut::none;
        if (rows.cut != QueryCut::none) {
            rows.values.resize(before);
        }
    }

    QueryConnection& connection_;
    const std::string& path_;
    std::string_view sql_;
    const QueryLimits& limits_;
    const Watch& watch_;
    int64_t bytes_ = 0;
};

QueryOutcome query_on(Result<Connection> opened, const std::string& path, bool is_written, std::string_view sql,
                      const QueryLimits& limits, const Progress& progress) {
    if (!opened) {
        return tl::unexpected(QueryFailure{opened.error(), std::nullopt});
    }
    const Watch watch(*opened, limits,
                      is_written ? std::min(limits.time, QueryLimits::longest_while_written) : limits.time, progress);
    auto connection = QueryConnection::restrict(*std::move(opened), path);
    if (!connection) {
        return tl::unexpected(QueryFailure{connection.error(), std::nullopt});
    }
    return Run(*connection, path, sql, limits, watch).rows();
}

}  // namespace

QueryOutcome query_file(const std::string& path, std::string_view sql, const QueryLimits& limits, Progress& progress) {
    const auto file = look_at(path);
    if (!file) {
        return tl::unexpected(QueryFailure{file.error(), std::nullopt});
    }
    return query_on(open_checked(path, *file, progress), path, file->state == TraceFile::State::being_written, sql,
                    limits, progress);
}

QueryOutcome query_trace(const Trace& trace, std::string_view sql, const QueryLimits& limits, Progress& progress) {
    return query_on(connect_to(trace, progress), trace.path, trace.being_written, sql, limits, progress);
}

}  // namespace tidemark
