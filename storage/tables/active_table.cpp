// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/tables/allocation_texts.h"
#include "storage/tables/table_points.h"
#include "storage/tables/tables.h"

namespace tidemark {
namespace {

struct ActiveRow {
    const AnalysisContext& context;
    AllocationTexts& texts;
    const ActiveAllocation& active;

    const DeviceHistory& device() const { return context.device(); }
    const Allocations& all() const { return device().allocations; }
    AllocationIndex index() const { return active.allocation; }
    std::optional<int64_t> alloc_time() const {
        return all().alloc_event[index()] != before_history ? std::optional(device().alloc_time(index()))
                                                            : std::nullopt;
    }
    std::string_view category() const {
        const auto category = category_of(context, active);
        return category ? category_name(*category) : "";
    }
};

using enum ColumnType;

constexpr ColumnOf<ActiveRow> active_columns[] = {
    {"device", int32, [](Column& c, const ActiveRow& r) { c.number(r.device().device); }},
    {"allocation", int64, [](Column& c, const ActiveRow& r) { c.number(r.device().allocation_id(r.index())); }},
    {"address", int64,
     [](Column& c, const ActiveRow& r) { c.number(static_cast<int64_t>(r.all().address[r.index()])); }},
    {"bytes", int64,
     [](Column& c, const ActiveRow& r) { c.number(static_cast<int64_t>(r.all().block_size[r.index()])); }},
    {"requested_bytes", int64,
     [](Column& c, const ActiveRow& r) { c.number(static_cast<int64_t>(r.all().requested[r.index()])); }},
    {"pending_free", flag, [](Column& c, const ActiveRow& r) { c.flag(r.active.is_pending(r.all())); }},
    {"alloc_time_ns", int64, [](Column& c, const ActiveRow& r) { c.number(r.alloc_time()); }},
    {"free_time_ns", int64, [](Column& c, const ActiveRow& r) { c.number(r.device().free_time(r.index())); }},
    {"site", repeated_text, [](Column& c, const ActiveRow& r) { r.texts.site(c, r.index()); }},
    {"module", repeated_text, [](Column& c, const ActiveRow& r) { r.texts.module(c, r.index()); }},
    {"op", repeated_text, [](Column& c, const ActiveRow& r) { r.texts.op(c, r.index()); }},
    {"phase", repeated_text, [](Column& c, const ActiveRow& r) { r.texts.phase(c, r.index()); }},
    {"category", repeated_text, [](Column& c, const ActiveRow& r) { c.text(r.category()); }},
    {"stack", repeated_text, [](Column& c, const ActiveRow& r) { r.texts.stack(c, r.index()); }},
};

}  // namespace

const TableInfo& active_table() {
    static const TableInfo info = table_info("active", active_columns);
    return info;
}

Status write_active(const AnalysisContext& context, const TimePoint& point, const TakeBatch& take) {
    AllocationTexts texts(context.trace(), context.device());
    TableRows<ActiveRow> rows(active_table(), active_columns, take);
    for (const ActiveAllocation& active : active_at(context, point)) {
        TIDEMARK_TRY(rows.add({context, texts, active}));
    }
    return rows.finish();
}

}  // namespace tidemark
