// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "storage/tables/tables.h"

namespace tidemark {
namespace {

using enum ColumnType;

constexpr ColumnOf<CompareRow> change_columns[] = {
    {"name", text, [](Column& c, const CompareRow& r) { c.text(r.name); }},
    {"change", repeated_text, [](Column& c, const CompareRow& r) { c.text(change_word(r.change())); }},
    {"a_bytes", int64, [](Column& c, const CompareRow& r) { c.number(r.a.bytes); }},
    {"b_bytes", int64, [](Column& c, const CompareRow& r) { c.number(r.b.bytes); }},
    {"difference_bytes", int64, [](Column& c, const CompareRow& r) { c.number(r.difference()); }},
    {"a_allocations", int64, [](Column& c, const CompareRow& r) { c.number(r.a.count); }},
    {"b_allocations", int64, [](Column& c, const CompareRow& r) { c.number(r.b.count); }},
    {"moved", flag, [](Column& c, const CompareRow& r) { c.flag(r.moved); }},
    {"stack", text,
     [](Column& c, const CompareRow& r) {
         c.text(fmt::format("{}", fmt::join(r.frames.rbegin(), r.frames.rend(), ";")));
     }},
};

}  // namespace

const TableInfo& changes_table() {
    static const TableInfo info = table_info("changes", change_columns);
    return info;
}

Status write_changes(const Comparison& comparison, const TakeBatch& take) {
    TableRows<CompareRow> rows(changes_table(), change_columns, take);
    for (const CompareRow& row : comparison.rows) {
        TIDEMARK_TRY(rows.add(row));
    }
    return rows.finish();
}

}  // namespace tidemark
