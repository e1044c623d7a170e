// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/tables/tables.h"

namespace tidemark {
namespace {

struct FindingRow {
    const Explanation& explanation;
    size_t position;  ///< among its findings

    const Finding& finding() const { return explanation.findings[position]; }
};

using enum ColumnType;

constexpr ColumnOf<FindingRow> finding_columns[] = {
    {"device", int32, [](Column& c, const FindingRow& r) { c.number(r.explanation.device); }},
    {"position", int32, [](Column& c, const FindingRow& r) { c.number(static_cast<int64_t>(r.position)); }},
    {"kind", text, [](Column& c, const FindingRow& r) { c.text(finding_word(r.finding().kind)); }},
    {"severity", text, [](Column& c, const FindingRow& r) { c.text(severity_word(r.finding().severity)); }},
    {"confidence", text, [](Column& c, const FindingRow& r) { c.text(confidence_word(r.finding().confidence)); }},
    {"title", text, [](Column& c, const FindingRow& r) { c.text(r.finding().title); }},
    {"bytes", int64, [](Column& c, const FindingRow& r) { c.number(r.finding().bytes); }},
    {"per_iteration_bytes", int64, [](Column& c, const FindingRow& r) { c.number(r.finding().per_iteration); }},
    {"count", int64, [](Column& c, const FindingRow& r) { c.number(r.finding().count); }},
    {"since_ns", int64, [](Column& c, const FindingRow& r) { c.number(r.finding().since); }},
    {"since_iteration", int64, [](Column& c, const FindingRow& r) { c.number(r.finding().since_iteration); }},
    {"component", text,
     [](Column& c, const FindingRow& r) {
         const auto component = r.finding().component;
         c.text(component ? component_word(*component) : "");
     }},
    {"line", text, [](Column& c, const FindingRow& r) { c.text(r.finding().line); }},
    {"referrer", text, [](Column& c, const FindingRow& r) { c.text(r.finding().referrer); }},
    {"fix", text,
     [](Column& c, const FindingRow& r) {
         c.text(r.finding().fixes.empty() ? std::string_view() : r.finding().fixes.front().text);
     }},
    {"time_ns", int64, [](Column& c, const FindingRow& r) { c.number(r.explanation.time); }},
};

}  // namespace

const TableInfo& findings_table() {
    static const TableInfo info = table_info("findings", finding_columns);
    return info;
}

Status write_findings(const Explained& device, const TakeBatch& take) {
    TableRows<FindingRow> rows(findings_table(), finding_columns, take);
    for (size_t position = 0; position < device.explanation.findings.size(); ++position) {
        TIDEMARK_TRY(rows.add({device.explanation, position}));
    }
    return rows.finish();
}

}  // namespace tidemark
