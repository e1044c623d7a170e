// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/sqlite/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace tidemark {

namespace {

/// Returns a clearer message for a full disk, a read-only folder and a missing file than Debian's SQLite.
SentenceValue plain_reason(int code, const char* message) {
    switch (code & 0xff) {
        case SQLITE_FULL: return Sentence("the disk is full");
        case SQLITE_READONLY: return Sentence("the file or its folder is read-only");
        case SQLITE_CANTOPEN: return Sentence("the file cannot be opened");
        case SQLITE_CORRUPT: return Sentence("the file is damaged");
        case SQLITE_NOTADB: return Sentence("the file is not an SQLite database");
        case SQLITE_BUSY: return Sentence("another program is writing the file");
        case SQLITE_IOERR: return Sentence("reading or writing failed ({message})", with("message", message));
        default: return message;
    }
}

bool blames_file(int code) {
    const int primary = code & 0xff;
    return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_FORMAT ||
           primary == SQLITE_ERROR || primary == SQLITE_TOOBIG || primary == SQLITE_MISMATCH;
}

/// Time that a reader waits for a writer that is leaving WAL mode.
constexpr int busy_milliseconds = 1000;

Status harden(sqlite3* connection) {
    sqlite3_busy_timeout(connection, busy_milliseconds);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
    sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, 256 << 20);
    sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
    sqlite3_limit(connection, SQLITE_LIMIT_EXPR_DEPTH, 100);
    sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0);
    if (sqlite3_exec(connection, "pragma cell_size_check=on; pragma mmap_size=0; pragma query_only=on", nullptr,
                     nullptr, nullptr) != SQLITE_OK) {
        return sqlite_error(connection, Sentence("Opening the trace"));
    }
    return {};
}

/// Returns a path as SQLite URI, escaped so that no part of it is parsed as a parameter.
std::string uri_of(const std::string& path) {
    std::string uri = path.starts_with('/') ? "file://" : "file:";
    for (const char c : path) {
        uri += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", c) : std::string(1, c);
    }
    return uri + "?immutable=1";
}

}  // namespace

Error sqlite_error(sqlite3* connection, const SentenceValue& subject) {
    const int code = sqlite3_extended_errcode(connection);
    if ((code & 0xff) == SQLITE_INTERRUPT) {
        return canceled_error();
    }
    if ((code & 0xff) == SQLITE_NOMEM) {
        throw std::bad_alloc();
    }
    return {blames_file(code) ? ErrorKind::input : ErrorKind::environment,
            Sentence("{subject}: {reason}.", with("subject", subject),
                     with("reason", plain_reason(code, sqlite3_errmsg(connection))))};
}

void Statement::Finalizer::operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
void Connection::Closer::operator()(sqlite3* c) const { sqlite3_close_v2(c); }

Statement::Statement(sqlite3* connection, sqlite3_stmt* statement) : connection_(connection), statement_(statement) {}

Statement& Statement::bind(int parameter, int64_t value) {
    sqlite3_bind_int64(statement_.get(), parameter + 1, value);
    return *this;
}
Statement& Statement::bind(int parameter, double value) {
    sqlite3_bind_double(statement_.get(), parameter + 1, value);
    return *this;
}
Statement& Statement::bind(int parameter, std::string_view text) {
    sqlite3_bind_text64(statement_.get(), parameter + 1, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
}
Statement& Statement::bind_blob(int parameter, std::span<const std::byte> bytes) {
    sqlite3_bind_blob64(statement_.get(), parameter + 1, bytes.data(), bytes.size(), SQLITE_STATIC);
    return *this;
}
Statement& Statement::bind_null(int parameter) {
    sqlite3_bind_null(statement_.get(), parameter + 1);
    return *this;
}

Result<bool> Statement::step() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) {
        return true;
    }
    if (code == SQLITE_DONE) {
        sqlite3_reset(statement_.get());
        return false;
    }
    Error error = sqlite_error(connection_, Sentence("Trace"));
    sqlite3_reset(statement_.get());
    return error;
}

Status Statement::run() {
    if (auto row = step(); !row) {
        return row.error();
    }
    reset();
    return {};
}

void Statement::reset() {
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string_view Statement::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    return text ? std::string_view(text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column)))
                : std::string_view();
}
std::span<const std::byte> Statement::blob(int column) const {
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
    return {data, data ? static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column)) : 0};
}

void Statement::append_values(std::string& bytes) const {
    const auto append = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
    const int columns = sqlite3_column_count(statement_.get());
    for (int column = 0; column < columns; ++column) {
        const int type = sqlite3_column_type(statement_.get(), column);
        bytes.push_back(static_cast<char>(type));
        if (type == SQLITE_INTEGER) {
            append(integer(column));
        } else if (type == SQLITE_FLOAT) {
            append(real(column));
        } else if (type != SQLITE_NULL) {
            const std::span<const std::byte> value = blob(column);
            append(int64_t{sqlite3_column_bytes(statement_.get(), column)});
            bytes.append(reinterpret_cast<const char*>(value.data()), value.size());
        }
    }
}

Result<Connection> Connection::open(const std::string& path, OpenMode mode) {
    Connection connection;
    sqlite3* raw = nullptr;
    const int flags = SQLITE_OPEN_NOMUTEX |
                      (mode == OpenMode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
    const int code =
        mode == OpenMode::read_alone
            ? sqlite3_open_v2(uri_of(path).c_str(), &raw, flags | SQLITE_OPEN_URI, nullptr)
            : sqlite3_open_v2(path.c_str(), &raw, flags, mode == OpenMode::read_left ? "unix-none" : nullptr);
    connection.connection_.reset(raw);
    if (code != SQLITE_OK) {
        return sqlite_error(raw, path);
    }
    sqlite3_extended_result_codes(raw, 1);
    if (mode != OpenMode::create) {
        TIDEMARK_TRY(harden(raw));
    }
    if (mode == OpenMode::read_left) {
        // Must come before the first access, so that SQLite keeps the log's index in memory instead of in a shared
        // file.
        TIDEMARK_TRY(connection.execute("PRAGMA locking_mode=EXCLUSIVE"));
    }
    return connection;
}

Status Connection::execute(const char* sql) {
    if (sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
        return sqlite_error(connection_.get(), Sentence("Trace"));
    }
    return {};
}

Result<Statement> Connection::prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(connection_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                           &statement, nullptr) != SQLITE_OK) {
        return sqlite_error(connection_.get(), Sentence("Trace"));
    }
    return Statement(connection_.get(), statement);
}

Result<int64_t> Connection::query_integer(std::string_view sql) {
    auto statement = prepare(sql);
    if (!statement) {
        return statement.error();
    }
    auto row = statement->step();
    if (!row) {
        return row.error();
    }
    return *row ? statement->integer(0) : 0;
}

Status Connection::close() {
    sqlite3* raw = connection_.release();
    if (sqlite3_close(raw) != SQLITE_OK) {
        Error error = sqlite_error(raw, Sentence("Closing the trace"));
        sqlite3_close_v2(raw);
        return error;
    }
    return {};
}

void Connection::on_progress(int (*interrupt)(void*), void* context) {
    sqlite3_progress_handler(connection_.get(), 10'000, interrupt, context);
}

}  // namespace tidemark
