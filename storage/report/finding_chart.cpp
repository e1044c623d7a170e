// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_memory.h"
#include "storage/report/chart_parts.h"
#include "storage/report/charts.h"
#include "storage/timeline/allocation_levels.h"
#include "storage/timeline/time_point.h"

namespace tidemark {
namespace {

/// Returns the most bytes of the finding's allocations in each column.
std::vector<double> allocated_bytes(const AnalysisContext& context, const Finding& finding,
                                    const std::vector<Column>& columns) {
    const std::vector<AllocationLevel> levels =
        levels_of(context.device(), memory_over_time(context.device(), finding));
    std::vector<double> result;
    for (const Column& column : columns) {
        int64_t most = level_at(levels, column.first).bytes;
        auto level = std::upper_bound(levels.begin(), levels.end(), column.first,
                                      [](EventNumber state, const AllocationLevel& l) { return state < l.state; });
        for (; level != levels.end() && level->state <= column.last; ++level) {
            most = std::max(most, level->bytes);
        }
        result.push_back(static_cast<double>(most));
    }
    return result;
}

/// Returns the bytes of a component in the middle of each column.
std::vector<double> component_bytes(const AnalysisContext& context, ComponentKind kind,
                                    const std::vector<double>& edges) {
    std::vector<int64_t> times;
    for (size_t i = 1; i < edges.size(); ++i) {
        times.push_back(static_cast<int64_t>((edges[i - 1] + edges[i]) / 2));
    }
    std::vector<double> result;
    for (const BreakdownRow& row : context.breakdown().band(times)) {
        result.push_back(static_cast<double>(row.bytes_of(kind)));
    }
    return result;
}

/// Returns the time of the plot. Allocations that grow within a second of a long run would be a mere step on its axis,
/// so their plot shows the busy part. A component may change at any time.
ShownTime time_of(const ReportInput& reported, const Finding& finding) {
    const AnalysisContext& context = reported.context;
    return finding.memory.allocations.empty()
               ? charted_time(reported)
               : busy_time(context.trace(), context.device(), context.curves(), context.trace().duration);
}

/// Returns nothing if there is no memory to draw: a part of what the program requests is not the whole component.
std::vector<double> bytes_of(const ReportInput& reported, const Finding& finding, const TimeColumns& columns) {
    if (!finding.memory.allocations.empty()) {
        return allocated_bytes(reported.context, finding, columns.columns);
    }
    return !finding.component || *finding.component == ComponentKind::requested
               ? std::vector<double>()
               : component_bytes(reported.context, *finding.component, columns.edges);
}

/// Shows the bytes under the mouse pointer, once for columns that are alike.
void hints(Plot& plot, const std::vector<double>& edges, const std::vector<double>& bytes) {
    for (size_t from = 0, to = 0; from < bytes.size(); from = to) {
        while (to < bytes.size() && bytes[to] == bytes[from]) {
            ++to;
        }
        plot.column(edges[from], edges[to],
                    fmt::format("{}\n{}", format_time_point(static_cast<int64_t>(edges[from])),
                                format_bytes(static_cast<int64_t>(bytes[from]))));
    }
}

}  // namespace

std::string finding_chart(const ReportInput& reported, const Finding& finding, const Words& words) {
    if (!has_times(reported.context.trace(), reported.context.device())) {
        return {};
    }
    const TimeColumns columns(reported, time_of(reported, finding));
    const std::vector<double> bytes = bytes_of(reported, finding, columns);
    const double most = bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
    if (most == 0) {
        return {};
    }
    Plot plot({960, 150, 10}, columns.range(), {0, most * 1.12});
    plot.axes(time_ticks(columns.time.start, columns.time.end), byte_ticks(0, static_cast<int64_t>(most)));
    const std::string severity(severity_word(finding.severity));
    plot.stepped_area(columns.edges, std::vector<double>(bytes.size()), bytes, "under-curve " + severity, "");
    plot.stepped_line(columns.edges, bytes, "curve " + severity);
    hints(plot, columns.edges, bytes);
    const std::string title = words("Memory of this finding over time");
    return figure_of(title, plot.svg(title));
}

}  // namespace tidemark
