// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/tables/table.h"

namespace tidemark {
namespace {

/// What readers of Parquet like as a row group.
constexpr int64_t most_rows = int64_t{1} << 17;

}  // namespace

BatchBuilder::BatchBuilder(const TableInfo& table, const TakeBatch& take) : table_(table), take_(take) {
    for (const ColumnInfo& column : table.columns) {
        dictionaries_.push_back(column.type == ColumnType::repeated_text ? std::make_shared<TextDictionary>()
                                                                         : nullptr);
    }
    begin();
}

void BatchBuilder::begin() {
    columns_.clear();
    for (size_t i = 0; i < dictionaries_.size(); ++i) {
        columns_.emplace_back(table_.columns[i].type, dictionaries_[i]);
    }
}

Status BatchBuilder::end_row() { return columns_.front().size() < most_rows ? Status() : pass_on(); }

Status BatchBuilder::pass_on() {
    if (columns_.front().size() == 0) {
        return {};
    }
    Status taken = take_({table_, std::move(columns_)});
    begin();
    return taken;
}

}  // namespace tidemark
