// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Rows of exported tables as text: one JSON object a line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace tidemark::cli {

/// Receives rows of a table, some at a time.
using TakeRows = std::function<Status(std::string_view table, std::string_view rows)>;

/// Collects the rows of one table.
class TableRows {
public:
    TableRows(const char* table, const TakeRows& take) : table_(table), take_(take) {}

    /// Appends a row. A value that is missing is null: nothing, or an empty text.
    class Row {
    public:
        explicit Row(std::string& text) : text_(text) { text_ += '{'; }
        Row(const Row&) = delete;
        Row& operator=(const Row&) = delete;
        ~Row() { text_ += "}\n"; }

        Row& number(std::string_view name, std::optional<int64_t> value);
        Row& flag(std::string_view name, bool value);
        Row& text(std::string_view name, std::string_view value);
        /// `value`: as json_string() returns it, for texts of many rows.
        Row& quoted(std::string_view name, std::string_view value);

    private:
        void name(std::string_view name);
        std::string& text_;
        bool is_first_ = true;
    };
    Row row() { return Row(text_); }

    /// Passes on what has been collected, if it is much. Call it after each of many rows.
    Status pass_on_some();
    Status pass_on();

private:
    const char* table_;
    const TakeRows& take_;
    std::string text_;
};

/// Returns the text in quotes; empty if it is empty.
std::string json_string(std::string_view text);

}  // namespace tidemark::cli
