// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Parts that several plots of an HTML report share.
#pragma once

#include <string>
#include <string_view>

#include "storage/report/report.h"
#include "storage/report/svg.h"
#include "storage/timeline/columns.h"
#include "storage/timeline/shown_time.h"

namespace tidemark {

/// Returns a plot with its heading. `legend`: entries of legend_item().
std::string figure_of(const std::string& title, const std::string& plot, const std::string& legend = {});
std::string legend_item(std::string_view css, const std::string& name);

/// A part of the run in columns: those of the window's timeline.
struct TimeColumns {
    TimeColumns(const ReportInput& reported, ShownTime shown);

    Range range() const { return {static_cast<double>(time.start), static_cast<double>(time.end)}; }

    ShownTime time;
    std::vector<Column> columns;
    std::vector<double> edges;  ///< of the columns
};

/// Draws a line where an iteration begins, or where every nth does. Returns its legend_item(); "" without iterations.
std::string draw_iterations(Plot& plot, const ReportInput& reported, const ShownTime& time, const Words& words);

}  // namespace tidemark
