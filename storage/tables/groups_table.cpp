// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/tables/allocation_texts.h"
#include "storage/tables/tables.h"

namespace tidemark {
namespace {

struct GroupRow {
    const AnalysisContext& context;
    const AllocationTexts& texts;
    GroupBy by;
    const AttributionGroup& group;
};

using enum ColumnType;

constexpr ColumnOf<GroupRow> group_columns[] = {
    {"device", int32, [](Column& c, const GroupRow& r) { c.number(r.context.device().device); }},
    {"name", text, [](Column& c, const GroupRow& r) { c.text(r.group.name); }},
    {"bytes", int64, [](Column& c, const GroupRow& r) { c.number(r.group.block_bytes); }},
    {"allocations", int64, [](Column& c, const GroupRow& r) { c.number(r.group.allocations); }},
    {"requested_bytes", int64, [](Column& c, const GroupRow& r) { c.number(r.group.requested); }},
    {"pending_bytes", int64, [](Column& c, const GroupRow& r) { c.number(r.group.pending); }},
    {"largest_allocation", int64,
     [](Column& c, const GroupRow& r) { c.number(r.context.device().allocation_id(r.group.largest)); }},
    {"stack", repeated_text,
     [](Column& c, const GroupRow& r) { r.texts.stack_of(c, r.by == GroupBy::stack ? r.group.stack : 0); }},
};

}  // namespace

const TableInfo& groups_table() {
    static const TableInfo info = table_info("groups", group_columns);
    return info;
}

Status write_groups(const AnalysisContext& context, const TimePoint& point, GroupBy by, const GroupOptions& options,
                    const TakeBatch& take) {
    const AllocationTexts texts(context.trace(), context.device());
    TableRows<GroupRow> rows(groups_table(), group_columns, take);
    for (const AttributionGroup& group :
         attribution_at(context.trace(), context.device(), context.analysis().live(), point, by, options)) {
        TIDEMARK_TRY(rows.add({context, texts, by, group}));
    }
    return rows.finish();
}

}  // namespace tidemark
