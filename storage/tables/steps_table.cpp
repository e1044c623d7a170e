// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/iterations.h"
#include "storage/tables/tables.h"

namespace tidemark {
namespace {

struct StepRow {
    const AnalysisContext& context;
    IterationSource source;
    const Iteration& iteration;
    int64_t at_end;                 ///< allocated bytes
    std::optional<int64_t> before;  ///< the same of the one before

    int64_t peak() const { return context.curves().extremes(Series::allocated, iteration.first, iteration.last).max; }
};

std::string_view unit_word(IterationSource source) {
    switch (source) {
        case IterationSource::none: return "";
        case IterationSource::steps: return "step";
        case IterationSource::marks: return "mark";
        case IterationSource::loop: return "loop";
    }
    return "";
}

using enum ColumnType;

constexpr ColumnOf<StepRow> step_columns[] = {
    {"device", int32, [](Column& c, const StepRow& r) { c.number(r.context.device().device); }},
    {"step", int64, [](Column& c, const StepRow& r) { c.number(r.iteration.number); }},
    {"unit", repeated_text, [](Column& c, const StepRow& r) { c.text(unit_word(r.source)); }},
    {"start_ns", int64, [](Column& c, const StepRow& r) { c.number(r.iteration.start); }},
    {"duration_ns", int64, [](Column& c, const StepRow& r) { c.number(r.iteration.end - r.iteration.start); }},
    {"peak_allocated_bytes", int64, [](Column& c, const StepRow& r) { c.number(r.peak()); }},
    {"end_allocated_bytes", int64, [](Column& c, const StepRow& r) { c.number(r.at_end); }},
    {"growth_bytes", int64,
     [](Column& c, const StepRow& r) { c.number(r.before ? std::optional(r.at_end - *r.before) : std::nullopt); }},
};

}  // namespace

const TableInfo& steps_table() {
    static const TableInfo info = table_info("steps", step_columns);
    return info;
}

Status write_steps(const AnalysisContext& context, const TakeBatch& take) {
    const Iterations iterations(context.trace(), context.device(), context.curves());
    TableRows<StepRow> rows(steps_table(), step_columns, take);
    std::optional<int64_t> before;
    for (const Iteration& iteration : iterations.all()) {
        const int64_t at_end = context.curves().value(Series::allocated, iteration.last);
        TIDEMARK_TRY(rows.add({context, iterations.source(), iteration, at_end, before}));
        before = at_end;
    }
    return rows.finish();
}

}  // namespace tidemark
