// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Tables: their columns, which are defined once, and their rows in batches.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "storage/base/result.h"
#include "storage/tables/column.h"

namespace tidemark {

struct ColumnInfo {
    std::string_view name;
    ColumnType type;
};

struct TableInfo {
    std::string_view name;
    std::vector<ColumnInfo> columns;
};

/// Some rows of a table.
struct TableBatch {
    const TableInfo& table;
    std::vector<Column> columns;  ///< in the order of table.columns

    int64_t rows() const { return columns.front().size(); }
};
/// Receives rows of a table, some at a time. May keep them.
using TakeBatch = std::function<Status(TableBatch&& batch)>;

/// Collects rows of a table and passes them on in batches. All batches share their dictionaries.
class BatchBuilder {
public:
    BatchBuilder(const TableInfo& table, const TakeBatch& take);

    std::vector<Column>& columns() { return columns_; }
    /// Passes on the rows if they are many. Call it after each row. Returns the error of `take`.
    Status end_row();
    Status pass_on();

private:
    void begin();

    const TableInfo& table_;
    const TakeBatch& take_;
    std::vector<std::shared_ptr<TextDictionary>> dictionaries_;
    std::vector<Column> columns_;
};

/// One column of a table with rows of type `Row`: its name, its type, and the function that appends a row's value.
template <class Row>
struct ColumnOf {
    std::string_view name;
    ColumnType type;
    void (*append)(Column& column, const Row& row);
};

/// Returns the description of a table that has these columns.
template <class Row, size_t count>
TableInfo table_info(std::string_view name, const ColumnOf<Row> (&columns)[count]) {
    TableInfo info{name, {}};
    for (const ColumnOf<Row>& column : columns) {
        info.columns.push_back({column.name, column.type});
    }
    return info;
}

/// Makes the rows of a table. The table, its columns and `take` must outlive it.
template <class Row>
class TableRows {
public:
    TableRows(const TableInfo& table, std::span<const ColumnOf<Row>> columns, const TakeBatch& take)
        : columns_(columns), builder_(table, take) {}

    Status add(const Row& row) {
        auto column = builder_.columns().begin();
        for (const ColumnOf<Row>& definition : columns_) {
            definition.append(*column++, row);
        }
        return builder_.end_row();
    }
    /// Passes on the rows that were not passed on yet.
    Status finish() { return builder_.pass_on(); }

private:
    std::span<const ColumnOf<Row>> columns_;
    BatchBuilder builder_;
};

}  // namespace tidemark
