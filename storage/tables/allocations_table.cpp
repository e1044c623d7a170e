// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <map>

#include "storage/tables/allocation_texts.h"
#include "storage/tables/table_points.h"
#include "storage/tables/tables.h"

namespace tidemark {
namespace {

/// An allocation as it is active at the two points; nullptr if it is not.
struct Activity {
    const ActiveAllocation *at_peak = nullptr, *at_end = nullptr;
};

struct ListedRow {
    const AnalysisContext& context;
    AllocationTexts& texts;
    AllocationIndex allocation;
    Activity active;

    const DeviceHistory& device() const { return context.device(); }
    const Allocations& all() const { return device().allocations; }
    std::optional<int64_t> alloc_time() const {
        return all().alloc_event[allocation] != before_history ? std::optional(device().alloc_time(allocation))
                                                               : std::nullopt;
    }
    std::string_view category(const ActiveAllocation* when) const {
        const auto category = when != nullptr ? category_of(context, *when) : std::nullopt;
        return category ? category_name(*category) : "";
    }
};

using enum ColumnType;

constexpr ColumnOf<ListedRow> allocation_columns[] = {
    {"device", int32, [](Column& c, const ListedRow& r) { c.number(r.device().device); }},
    {"allocation", int64, [](Column& c, const ListedRow& r) { c.number(r.device().allocation_id(r.allocation)); }},
    {"bytes", int64,
     [](Column& c, const ListedRow& r) { c.number(static_cast<int64_t>(r.all().block_size[r.allocation])); }},
    {"requested_bytes", int64,
     [](Column& c, const ListedRow& r) { c.number(static_cast<int64_t>(r.all().requested[r.allocation])); }},
    {"at_peak", flag, [](Column& c, const ListedRow& r) { c.flag(r.active.at_peak != nullptr); }},
    {"at_end", flag, [](Column& c, const ListedRow& r) { c.flag(r.active.at_end != nullptr); }},
    {"alloc_time_ns", int64, [](Column& c, const ListedRow& r) { c.number(r.alloc_time()); }},
    {"free_time_ns", int64, [](Column& c, const ListedRow& r) { c.number(r.device().free_time(r.allocation)); }},
    {"site", repeated_text, [](Column& c, const ListedRow& r) { r.texts.site(c, r.allocation); }},
    {"module", repeated_text, [](Column& c, const ListedRow& r) { r.texts.module(c, r.allocation); }},
    {"op", repeated_text, [](Column& c, const ListedRow& r) { r.texts.op(c, r.allocation); }},
    {"phase", repeated_text, [](Column& c, const ListedRow& r) { r.texts.phase(c, r.allocation); }},
    {"category_at_peak", repeated_text, [](Column& c, const ListedRow& r) { c.text(r.category(r.active.at_peak)); }},
    {"category_at_end", repeated_text, [](Column& c, const ListedRow& r) { c.text(r.category(r.active.at_end)); }},
    {"stack", repeated_text, [](Column& c, const ListedRow& r) { r.texts.stack(c, r.allocation); }},
};

}  // namespace

const TableInfo& allocations_table() {
    static const TableInfo info = table_info("allocations", allocation_columns);
    return info;
}

Status write_allocations(const AnalysisContext& context, ExportedAllocations which, const TakeBatch& take) {
    const auto peak = active_at(context, point_of(context, "peak")), end = active_at(context, point_of(context, "end"));
    std::map<AllocationIndex, Activity> active;  // by age
    for (const ActiveAllocation& at_peak : peak) {
        active[at_peak.allocation].at_peak = &at_peak;
    }
    for (const ActiveAllocation& at_end : end) {
        active[at_end.allocation].at_end = &at_end;
    }
    AllocationTexts texts(context.trace(), context.device());
    TableRows<ListedRow> rows(allocations_table(), allocation_columns, take);
    if (which == ExportedAllocations::alive) {
        for (const auto& [allocation, when] : active) {
            TIDEMARK_TRY(rows.add({context, texts, allocation, when}));
        }
        return rows.finish();
    }
    auto next = active.begin();
    for (AllocationIndex a = 0; a < context.device().allocations.size(); ++a) {
        const bool is_active = next != active.end() && next->first == a;
        TIDEMARK_TRY(rows.add({context, texts, a, is_active ? (next++)->second : Activity()}));
    }
    return rows.finish();
}

}  // namespace tidemark
