// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/tables/table_points.h"
#include "storage/tables/tables.h"

namespace tidemark {
namespace {

struct ComponentRow {
    int device;
    const std::string& point;
    int64_t time;
    const Component& component;
};

using enum ColumnType;

constexpr ColumnOf<ComponentRow> component_columns[] = {
    {"device", int32, [](Column& c, const ComponentRow& r) { c.number(r.device); }},
    {"point", text, [](Column& c, const ComponentRow& r) { c.text(r.point); }},
    {"time_ns", int64, [](Column& c, const ComponentRow& r) { c.number(r.time); }},
    {"component", text, [](Column& c, const ComponentRow& r) { c.text(component_word(r.component.kind)); }},
    {"name", text, [](Column& c, const ComponentRow& r) { c.text(r.component.name); }},
    {"process_id", int64,
     [](Column& c, const ComponentRow& r) {
         c.number(r.component.pid != 0 ? std::optional(r.component.pid) : std::nullopt);
     }},
    {"bytes", int64, [](Column& c, const ComponentRow& r) { c.number(r.component.bytes); }},
    {"count", int64, [](Column& c, const ComponentRow& r) { c.number(r.component.count); }},
};

}  // namespace

const TableInfo& breakdown_table() {
    static const TableInfo info = table_info("breakdown", component_columns);
    return info;
}

std::vector<NamedPoint> peak_and_end(const AnalysisContext& context) {
    return {{"peak", point_of(context, "peak")}, {"end", point_of(context, "end")}};
}

Status write_breakdown(const AnalysisContext& context, std::span<const NamedPoint> points, const TakeBatch& take) {
    TableRows<ComponentRow> rows(breakdown_table(), component_columns, take);
    for (const NamedPoint& at : points) {
        const BreakdownRow row = context.breakdown().at(at.point);
        for (const Component& component : row.components) {
            TIDEMARK_TRY(rows.add({context.device().device, at.name, row.time, component}));
        }
    }
    return rows.finish();
}

}  // namespace tidemark
