// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/file_texts.h"

#include <fmt/format.h>

#include <vector>

#include "storage/read/row_source.h"

namespace tidemark {
namespace {

struct Column {
    std::string table, name;
};

std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) {
        text += c == '"' ? "\"\"" : std::string(1, c);
    }
    return text + '"';
}

Result<Connection> open_for_texts(const std::string& path, Progress& progress) {
    const auto file = look_at(path);
    return file ? open_database(path, *file, progress) : Result<Connection>(file.error());
}

/// Columns declared as numbers in a strict table contain no text.
Status find_columns(RowSource& source, std::vector<Column>& columns) {
    return source.each(
        "SELECT t.name, c.name FROM pragma_table_list AS t, pragma_table_xinfo(t.name, 'main') AS c "
        "WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%' "
        "AND c.hidden = 0 AND (t.strict = 0 OR c.type NOT IN ('INT', 'INTEGER', 'REAL')) ORDER BY t.name, c.cid",
        [&](Statement& row) {
            columns.push_back({std::string(row.text(0)), std::string(row.text(1))});
            return true;
        });
}

}  // namespace

Status for_each_text(const std::string& path, Progress& progress, const std::function<Status(const FileText&)>& visit) {
    auto connection = open_for_texts(path, progress);
    if (!connection) {
        return connection.error();
    }
    RowSource source(*connection, path, progress);
    std::vector<Column> columns;
    TIDEMARK_TRY(find_columns(source, columns));
    Status result;
    for (const Column& column : columns) {
        const std::string sql = fmt::format(
            "SELECT DISTINCT {0}, 0 FROM main.{1} WHERE typeof({0}) = 'text' "
            "UNION ALL SELECT {0}, 1 FROM main.{1} WHERE typeof({0}) = 'blob'",
            quoted(column.name), quoted(column.table));
        TIDEMARK_TRY(source.each(sql, [&](Statement& row) {
            const bool is_blob = row.integer(1) != 0;
            const auto bytes = row.blob(0);
            if (result) {
                result = visit(
                    {column.table, column.name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, is_blob});
            }
            return true;
        }));
        TIDEMARK_TRY(result);
    }
    return {};
}

Result<std::string> schema_text(const std::string& path, Progress& progress) {
    auto connection = open_for_texts(path, progress);
    if (!connection) {
        return connection.error();
    }
    std::string text;
    RowSource source(*connection, path, progress);
    const Status read = source.each("SELECT coalesce(sql, '') FROM main.sqlite_schema", [&](Statement& row) {
        text += row.text(0);
        text += '\n';
        return true;
    });
    return read ? Result<std::string>(std::move(text)) : Result<std::string>(read.error());
}

}  // namespace tidemark
