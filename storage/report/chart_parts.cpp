// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/chart_parts.h"

#include <fmt/format.h>

namespace tidemark {
namespace {

constexpr int time_column_count = 200;

}  // namespace

std::string figure_of(const std::string& title, const std::string& plot, const std::string& legend) {
    const std::string list = legend.empty() ? "" : fmt::format("<ul class=\"legend\">{}</ul>", legend);
    return fmt::format("<figure><figcaption>{}</figcaption>{}{}</figure>\n", html_escaped(title), plot, list);
}

std::string legend_item(std::string_view css, const std::string& name) {
    return fmt::format("<li><i class=\"{}\"></i>{}</li>", css, html_escaped(name));
}

TimeColumns::TimeColumns(const ReportInput& reported, ShownTime shown)
    : time(shown),
      columns(make_columns(reported.context.trace(), reported.context.device(), reported.context.curves(),
                           TimeAxis::wall_clock, range().low, range().high, time_column_count)) {
    for (int c = 0; c <= time_column_count; ++c) {
        edges.push_back(range().low + (range().high - range().low) * c / time_column_count);
    }
}

std::string draw_iterations(Plot& plot, const ReportInput& reported, const ShownTime& time, const Words& words) {
    constexpr size_t most_lines = 80;
    const Iterations& iterations = reported.context.iterations();
    if (iterations.empty()) {
        return {};
    }
    const size_t every = (iterations.size() + most_lines - 1) / most_lines;
    for (size_t i = 0; i < iterations.size(); i += every) {
        if (iterations[i].start >= time.start && iterations[i].start <= time.end) {
            plot.upright(static_cast<double>(iterations[i].start), "iteration", "");
        }
    }
    const bool is_steps = iterations.source() == IterationSource::steps;
    return legend_item("iteration",
                       every == 1 ? is_steps ? words("a step begins") : words("an iteration begins")
                       : is_steps
                           ? words.plural(static_cast<int64_t>(every), "every {n} step", "every {n} steps")
                           : words.plural(static_cast<int64_t>(every), "every {n} iteration", "every {n} iterations"));
}

}  // namespace tidemark
