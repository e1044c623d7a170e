// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The plots of an HTML report.
#pragma once

#include <string>

#include "storage/report/report.h"
#include "storage/timeline/shown_time.h"

namespace tidemark {

/// Returns the time that plots over time show: that of the window's first picture, the whole run.
ShownTime charted_time(const ReportInput& reported);

// Each function returns a plot with its heading and legend as HTML, or "" if there is nothing to draw.

/// Draws the memory by category over time with the lines of reserved, active and allocated memory, the peak and
/// out-of-memory errors: the window's first picture. Without a graph, only the lines.
std::string category_chart(const ReportInput& reported, const Words& words);
/// Draws the memory breakdown over time, with the figure of nvidia-smi, iterations, and flags at the evidence of
/// findings.
std::string components_chart(const ReportInput& reported, const Words& words);
/// Draws the lowest allocated memory of each iteration.
std::string floor_chart(const ReportInput& reported, const Words& words);
/// Draws the memory of a finding over time, on its own scale, as the window does; of allocations in the busy part.
std::string finding_chart(const ReportInput& reported, const Finding& finding, const Words& words);

}  // namespace tidemark
