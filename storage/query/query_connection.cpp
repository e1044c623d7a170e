// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/query/query_connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "storage/format/schema.h"
#include "storage/query/query_names.h"

namespace tidemark {

namespace {

/// No text or blob of a query is longer. A query can make longer ones than a trace has.
constexpr int longest_value = 16 << 20;

constexpr std::string_view sqlite_tables[] = {"sqlite_master", "sqlite_schema", "sqlite_temp_master",
                                              "sqlite_temp_schema"};
constexpr std::string_view table_functions[] = {"json_each", "json_tree"};
constexpr std::string_view forbidden_functions[] = {"load_extension", "fts3_tokenizer", "sqlite_log"};

template <class List>
bool has(const List& list, std::string_view name) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

int authorize(void* context, int action, const char* first, const char* second, const char*, const char* view) {
    const auto name = [](const char* text) { return std::string(text != nullptr ? text : ""); };
    Denied denied;
    if (action == SQLITE_SELECT || action == SQLITE_RECURSIVE) {
        return SQLITE_OK;
    }
    if (action == SQLITE_READ) {
        denied = {Denied::What::table, name(first)};
        // Without a column it may be the name of a WITH, and only its rows are counted. The views of this
        // program read what they need, also tables of older formats.
        const bool names_column = second != nullptr && *second != '\0';
        if (!names_column || (view != nullptr && find_query_table(view) != nullptr) ||
            find_query_table(denied.name) != nullptr || has(sqlite_tables, denied.name) ||
            has(table_functions, denied.name)) {
            return SQLITE_OK;
        }
    } else if (action == SQLITE_FUNCTION) {
        denied = {Denied::What::function, name(second)};
        if (!has(forbidden_functions, denied.name)) {
            return SQLITE_OK;
        }
    }
    auto& first_denied = *static_cast<std::optional<Denied>*>(context);
    if (!first_denied) {
        first_denied = denied;
    }
    return SQLITE_DENY;
}

/// A module of SQLite reads the tables of a virtual table as soon as a query names it: not those of a stranger. Any
/// other object with this word is as unlikely in a trace.
Status refuse_virtual_tables(Connection& connection, const std::string& path) {
    const auto found =
        connection.query_integer("SELECT count(*) FROM sqlite_schema WHERE CAST(sql AS TEXT) LIKE '%virtual%'");
    if (!found) {
        return found.error();
    }
    return *found == 0 ? Status()
                       : input_error(
                             "{path}: the trace holds a virtual table, which no Tidemark writes. It is not "
                             "queried.",
                             with("path", path));
}

Result<std::vector<std::string>> names(Connection& connection, std::string_view sql, std::string_view parameter = {}) {
    std::vector<std::string> found;
    auto statement = connection.prepare(sql);
    if (!statement) {
        return statement.error();
    }
    if (!parameter.empty()) {
        statement->bind(0, parameter);
    }
    for (;;) {
        const auto row = statement->step();
        if (!row) {
            return row.error();
        }
        if (!*row) {
            return found;
        }
        found.emplace_back(statement->text(0));
    }
}

/// Returns a view that gives a table the columns of the current format: NULL where an older trace has none, and no
/// others, whose names could be ambiguous. Empty if it has just them.
Result<std::string> completed_table(Connection& connection, const QueryTable& table) {
    const auto existing = names(connection, "SELECT name FROM pragma_table_info(?, 'main')", table.name);
    if (!existing) {
        return existing.error();
    }
    std::string columns;
    bool is_same = existing->size() == table.columns.size();
    for (const std::string& column : table.columns) {
        const bool exists = has(*existing, column);
        is_same = is_same && exists;
        columns += fmt::format("{}{}{}", columns.empty() ? "" : ", ", exists ? "" : "NULL AS ", column);
    }
    return is_same             ? std::string()
           : existing->empty() ? fmt::format("CREATE TEMP VIEW {} AS SELECT {} WHERE 0", table.name, columns)
                               : fmt::format("CREATE TEMP VIEW {0} AS SELECT {1} FROM main.{0}", table.name, columns);
}

/// The views in the file are not trusted and never read: their names mean views that this program defines.
Status create_views(Connection& connection) {
    const auto adapted = names(connection, "SELECT name FROM sqlite_temp_schema");
    if (!adapted) {
        return adapted.error();
    }
    TIDEMARK_TRY(connection.execute("PRAGMA query_only=off"));
    constexpr std::string_view create = "CREATE ";
    for (const QueryTable& table : query_tables()) {
        if (table.is_view) {
            TIDEMARK_TRY(connection.execute(("CREATE TEMP " + table.definition.substr(create.size())).c_str()));
        } else if (!has(*adapted, table.name)) {
            const auto view = completed_table(connection, table);
            if (!view) {
                return view.error();
            }
            TIDEMARK_TRY(connection.execute(view->c_str()));
        }
    }
    return connection.execute("PRAGMA query_only=on");
}

}  // namespace

QueryConnection::QueryConnection(Connection connection)
    : denied_(std::make_unique<std::optional<Denied>>()), connection_(std::move(connection)) {
    sqlite3_set_authorizer(raw(), authorize, denied_.get());
}

Result<QueryConnection> QueryConnection::restrict(Connection connection, const std::string& path) {
    TIDEMARK_TRY(refuse_virtual_tables(connection, path));
    // In memory, where it is counted; a temporary file would grow without a limit. This deletes all temporary views.
    TIDEMARK_TRY(connection.execute("PRAGMA temp_store=memory"));
    TIDEMARK_TRY(adapt_older_format(connection));
    TIDEMARK_TRY(create_views(connection));
    // SQLite defines these tables at their first use, which is no reading.
    TIDEMARK_TRY(connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')"));
    sqlite3_limit(connection.raw(), SQLITE_LIMIT_LENGTH, longest_value);
    // "text" in double quotes is a wrong name of a column, not silently a text.
    sqlite3_db_config(connection.raw(), SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    return QueryConnection(std::move(connection));
}

}  // namespace tidemark
