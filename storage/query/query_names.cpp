// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/query/query_names.h"

#include <sqlite3.h>

#include <algorithm>

#include "storage/format/schema.h"

namespace tidemark {

namespace {

std::vector<std::string> columns_of(Connection& empty_trace, std::string_view table) {
    std::vector<std::string> columns;
    auto names = empty_trace.prepare("SELECT name FROM pragma_table_info(?)");
    if (names) {
        names->bind(0, table);
        while (names->step().value_or(false)) {
            columns.emplace_back(names->text(0));
        }
    }
    return columns;
}

std::vector<QueryTable> read_tables() {
    std::vector<QueryTable> tables;
    auto empty_trace = Connection::open(":memory:", OpenMode::create);
    if (!empty_trace || !create_schema(*empty_trace)) {
        return tables;
    }
    auto objects = empty_trace->prepare(
        "SELECT name, type = 'view', sql FROM sqlite_schema WHERE type IN ('view', 'table') ORDER BY 2 DESC, "
        "CASE name WHEN 'allocations' THEN 1 WHEN 'live_at_peak' THEN 2 WHEN 'segments' THEN 3 ELSE 4 END, rowid");
    while (objects && objects->step().value_or(false)) {
        tables.push_back({std::string(objects->text(0)), objects->integer(1) != 0,
                          columns_of(*empty_trace, objects->text(0)), std::string(objects->text(2))});
    }
    return tables;
}

}  // namespace

const std::vector<QueryTable>& query_tables() {
    static const std::vector<QueryTable> tables = read_tables();
    return tables;
}

const QueryTable* find_query_table(std::string_view name) {
    const auto is_it = [&](const QueryTable& table) {
        return table.name.size() == name.size() &&
               sqlite3_strnicmp(table.name.data(), name.data(), static_cast<int>(name.size())) == 0;
    };
    const auto found = std::find_if(query_tables().begin(), query_tables().end(), is_it);
    return found == query_tables().end() ? nullptr : &*found;
}

bool is_sql_keyword(std::string_view word) {
    return sqlite3_keyword_check(word.data(), static_cast<int>(word.size())) != 0;
}

}  // namespace tidemark
