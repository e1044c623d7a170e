// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/export/exported_tables.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace tidemark::cli {
namespace {

/// Writes batches of a table as JSON. Texts that many rows have are quoted once.
class JsonRows {
public:
    explicit JsonRows(const TableBatch& batch) : batch_(batch), quoted_(batch.columns.size()) {}

    std::string text() {
        for (int64_t row = 0; row < batch_.rows(); ++row) {
            const char* separator = "{";
            for (size_t column = 0; column < batch_.columns.size(); ++column) {
                if (!batch_.columns[column].is_missing(row)) {
                    fmt::format_to(std::back_inserter(text_), "{}\"{}\":", separator,
                                   batch_.table.columns[column].name);
                    add_value(column, row);
                    separator = ",";
                }
            }
            text_ += "}\n";
        }
        return std::move(text_);
    }

private:
    void add_value(size_t index, int64_t row) {
        const Column& column = batch_.columns[index];
        switch (column.type()) {
            case ColumnType::flag: text_ += column.flag_at(row) ? "true" : "false"; return;
            case ColumnType::int32:
            case ColumnType::int64:
            case ColumnType::utc_time: fmt::format_to(std::back_inserter(text_), "{}", column.number_at(row)); return;
            case ColumnType::text: text_ += quoted(column.text_at(row)); return;
            case ColumnType::repeated_text: break;
        }
        std::string& known = quoted_[index][column.number_at(row)];
        if (known.empty()) {
            known = quoted(column.text_at(row));
        }
        text_ += known;
    }
    static std::string quoted(std::string_view text) { return nlohmann::json(text).dump(); }

    const TableBatch& batch_;
    std::vector<std::unordered_map<int64_t, std::string>> quoted_;  ///< by column and number of the text
    std::string text_;
};

}  // namespace

Status export_tables(const Explained& device, ExportedAllocations allocations, const TakeRows& take) {
    return write_dataset(device, allocations,
                         [&](TableBatch&& batch) { return take(batch.table.name, JsonRows(batch).text()); });
}

nlohmann::ordered_json exported_columns() {
    nlohmann::ordered_json tables;
    for (const TableInfo* table : dataset_tables()) {
        for (const ColumnInfo& column : table->columns) {
            tables[std::string(table->name)][std::string(column.name)] = column_type_word(column.type);
        }
    }
    return tables;
}

}  // namespace tidemark::cli
