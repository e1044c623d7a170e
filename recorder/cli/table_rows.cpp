// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/cli/table_rows.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "storage/base/utf8.h"

namespace tidemark::cli {
namespace {

/// Some 100,000 rows, which is what readers of Parquet like as a row group.
constexpr size_t much = size_t{32} << 20;

}  // namespace

void TableRows::Row::name(std::string_view name) {
    fmt::format_to(std::back_inserter(text_), "{}\"{}\":", is_first_ ? "" : ",", name);
    is_first_ = false;
}

TableRows::Row& TableRows::Row::number(std::string_view name, std::optional<int64_t> value) {
    this->name(name);
    text_ += value ? fmt::to_string(*value) : "null";
    return *this;
}

TableRows::Row& TableRows::Row::flag(std::string_view name, bool value) {
    this->name(name);
    text_ += value ? "true" : "false";
    return *this;
}

TableRows::Row& TableRows::Row::text(std::string_view name, std::string_view value) {
    return quoted(name, json_string(value));
}

TableRows::Row& TableRows::Row::quoted(std::string_view name, std::string_view value) {
    this->name(name);
    text_ += value.empty() ? "null" : value;
    return *this;
}

Status TableRows::pass_on_some() { return text_.size() < much ? Status() : pass_on(); }

Status TableRows::pass_on() {
    Status taken = text_.empty() ? Status() : take_(table_, text_);
    text_.clear();
    return taken;
}

std::string json_string(std::string_view text) { return text.empty() ? "" : nlohmann::json(valid_utf8(text)).dump(); }

}  // namespace tidemark::cli
