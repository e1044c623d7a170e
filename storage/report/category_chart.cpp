// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "storage/attribution/category_grouping.h"
#include "storage/base/units.h"
#include "storage/report/charts.h"
#include "storage/report/html_colors.h"
#include "storage/report/svg.h"
#include "storage/text/fact_words.h"

namespace tidemark {
namespace {

constexpr int column_count = 200;
constexpr int64_t seen_share = 200;  // thinner bands are only shown under the mouse pointer

/// Draws one chart, from back to front: the columns of the window's timeline.
class CategoryChart {
public:
    CategoryChart(const ReportInput& reported, const Words& words)
        : words_(words),
          shown_time_(charted_time(reported)),
          columns_(make_columns(reported.context.trace(), reported.context.device(), reported.context.curves(),
                                TimeAxis::wall_clock, static_cast<double>(shown_time_.start),
                                static_cast<double>(shown_time_.end), column_count)),
          bytes_(stacked_bytes(
              reported.context.device(), reported.context.analysis().live(), columns_,
              group_by_category(reported.context.graph()->categories, reported.context.device_position()))),
          highest_(highest()),
          plot_({960, 260, 10}, {static_cast<double>(shown_time_.start), static_cast<double>(shown_time_.end)},
                {0, static_cast<double>(highest_) * 1.04}) {
        for (size_t c = 0; c <= columns_.size(); ++c) {
            const double share = static_cast<double>(c) / static_cast<double>(columns_.size());
            edges_.push_back(static_cast<double>(shown_time_.start) +
                             share * static_cast<double>(shown_time_.end - shown_time_.start));
        }
    }

    std::string draw() {
        if (highest_ <= 1) {
            return {};
        }
        plot_.axes(time_ticks(shown_time_.start, shown_time_.end), byte_ticks(0, highest_));
        bands();
        reserved_line();
        for (size_t c = 0; c < columns_.size(); ++c) {
            plot_.column(edges_[c], edges_[c + 1], hint(c));
        }
        const std::string title = words_("Memory by category over time");
        return fmt::format("<figure><figcaption>{}</figcaption>{}<ul class=\"legend\">{}</ul></figure>\n",
                           html_escaped(title), plot_.svg(title), legend_);
    }

private:
    int64_t of(size_t column, size_t group) const { return bytes_[column * category_count + group]; }
    int64_t reserved(size_t column) const { return columns_[column].max[static_cast<size_t>(Series::reserved)]; }
    int64_t highest() const {
        int64_t most = 1;
        for (size_t c = 0; c < columns_.size(); ++c) {
            most = std::max(most, reserved(c));
            int64_t active = 0;
            for (size_t group = 0; group < category_count; ++group) {
                active += of(c, group);
            }
            most = std::max(most, active);
        }
        return most;
    }
    /// Returns the steps of the columns as points of a line: each value at both edges.
    static std::vector<double> at_edges(const std::vector<double>& values);
    void bands();
    void reserved_line();
    std::string hint(size_t column) const;

    const Words& words_;
    const ShownTime shown_time_;
    const std::vector<Column> columns_;
    const std::vector<int64_t> bytes_;  ///< by column and category
    const int64_t highest_;
    Plot plot_;
    std::vector<double> edges_;  ///< of the columns
    std::string legend_;
};

std::vector<double> CategoryChart::at_edges(const std::vector<double>& values) {
    std::vector<double> doubled;
    for (const double value : values) {
        doubled.insert(doubled.end(), 2, value);
    }
    return doubled;
}

void CategoryChart::bands() {
    std::vector<double> xs, lower(columns_.size(), 0), upper = lower;
    for (size_t c = 0; c < columns_.size(); ++c) {
        xs.insert(xs.end(), {edges_[c], edges_[c + 1]});
    }
    for (size_t group = 0; group < category_count; ++group) {
        int64_t most = 0;
        for (size_t c = 0; c < columns_.size(); ++c) {
            upper[c] = lower[c] + static_cast<double>(of(c, group));
            most = std::max(most, of(c, group));
        }
        if (most > 0) {
            const Category category = category_of_group(group);
            const std::string css = key_class(category), name = category_name(words_, category);
            plot_.area(xs, at_edges(lower), at_edges(upper), "band " + css, name);
            if (most * seen_share >= highest_) {
                legend_ += fmt::format("<li><i class=\"{}\"></i>{}</li>", css, html_escaped(name));
            }
        }
        lower = upper;
    }
}

void CategoryChart::reserved_line() {
    std::vector<double> xs, ys;
    for (size_t c = 0; c < columns_.size(); ++c) {
        xs.push_back((edges_[c] + edges_[c + 1]) / 2);
        ys.push_back(static_cast<double>(reserved(c)));
    }
    plot_.line(xs, ys, "reserved");
    legend_ += fmt::format("<li><i class=\"reserved\"></i>{}</li>", html_escaped(words_("reserved")));
}

std::string CategoryChart::hint(size_t column) const {
    std::string text = format_time_point(static_cast<int64_t>(edges_[column]));
    text += fmt::format("\n{}: {}", words_("reserved"), format_bytes(reserved(column)));
    for (size_t group = category_count; group-- > 0;) {
        if (of(column, group) > 0) {
            text += fmt::format("\n{}: {}", category_name(words_, category_of_group(group)),
                                format_bytes(of(column, group)));
        }
    }
    return text;
}

}  // namespace

std::string category_chart(const ReportInput& reported, const Words& words) {
    return reported.context.graph() == nullptr ? "" : CategoryChart(reported, words).draw();
}

}  // namespace tidemark
