// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "storage/attribution/category_grouping.h"
#include "storage/base/units.h"
#include "storage/report/chart_parts.h"
#include "storage/report/charts.h"
#include "storage/report/html_colors.h"
#include "storage/text/fact_words.h"
#include "storage/timeline/band_place.h"
#include "storage/timeline/time_point.h"

namespace tidemark {
namespace {

constexpr int64_t seen_share = 200;  // thinner bands are only shown under the mouse pointer
constexpr double headroom = 1.2;     // for the labels of the peak and of an error

/// In the order in which the window draws them: the allocated memory is on top.
constexpr Series lines[] = {Series::reserved, Series::active, Series::allocated};

std::string series_name(Series series, const Words& words) {
    return series == Series::reserved ? words("reserved")
           : series == Series::active ? words("active")
                                      : words("allocated");
}

/// Returns an estimate of a name's width in pixels: fonts are the reader's. Chinese characters are as wide as high.
double text_width(std::string_view name) {
    constexpr double latin = 7, other = 12, room = 8;
    double width = room;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        width += byte < 0x80 ? latin : byte >= 0xc0 ? other : 0;
    }
    return width;
}

/// Draws one chart, from back to front: the columns of the window's timeline.
class CategoryChart {
public:
    CategoryChart(const ReportInput& reported, const Words& words)
        : reported_(reported),
          words_(words),
          time_(reported, charted_time(reported)),
          group_count_(reported.context.graph() == nullptr ? 0 : category_count),
          bytes_(stacked(reported, time_.columns)),
          highest_(reported.context.curves().peak(Series::reserved).max),
          plot_({960, 280, 10}, time_.range(), {0, static_cast<double>(highest_) * headroom}) {}

    std::string draw() {
        if (highest_ <= 1) {
            return {};
        }
        plot_.axes(time_ticks(time_.time.start, time_.time.end), byte_ticks(0, highest_));
        bands();
        const std::string iterations = draw_iterations(plot_, reported_, time_.time, words_);
        series_lines();
        names();
        legend_ += iterations;
        peak();
        for (size_t c = 0; c < time_.columns.size(); ++c) {
            plot_.column(time_.edges[c], time_.edges[c + 1], hint(c));
        }
        errors();
        const std::string title =
            group_count_ > 0 ? words_("Memory by category over time") : words_("Memory over time");
        return figure_of(title, plot_.svg(title), legend_);
    }

private:
    static std::vector<int64_t> stacked(const ReportInput& reported, const std::vector<Column>& columns) {
        const AnalysisContext& context = reported.context;
        if (context.graph() == nullptr) {
            return {};
        }
        const Grouping grouping = group_by_category(context.graph()->categories, context.device_position());
        const DeviceHistory& device = context.device();
        const AliveIndex& live = context.analysis().live();
        return stacked_bytes(device, live, columns, grouping, {device.allocations, live, grouping});
    }
    int64_t of(size_t column, size_t group) const { return bytes_[column * group_count_ + group]; }
    int64_t of(size_t column, Series series) const { return time_.columns[column].max[static_cast<size_t>(series)]; }
    void bands();
    void add_name(const std::vector<double>& lower, const std::vector<double>& upper, const std::string& name);
    void names();
    void series_lines();
    void peak();
    void errors();
    std::string hint(size_t column) const;

    const ReportInput& reported_;
    const Words& words_;
    const TimeColumns time_;
    const size_t group_count_;
    const std::vector<int64_t> bytes_;  ///< by column and category
    const int64_t highest_;
    Plot plot_;
    std::string legend_;
    struct BandName {
        double from = 0, to = 0;  ///< time
        double middle = 0;        ///< pixels
        std::string name;
    };
    std::vector<BandName> names_;
};

void CategoryChart::bands() {
    std::vector<double> lower(time_.columns.size(), 0), upper = lower;
    for (size_t group = 0; group < group_count_; ++group) {
        int64_t most = 0;
        for (size_t c = 0; c < time_.columns.size(); ++c) {
            upper[c] = lower[c] + static_cast<double>(of(c, group));
            most = std::max(most, of(c, group));
        }
        if (most > 0) {
            const Category category = category_of_group(group);
            const std::string css = key_class(category), name = category_name(words_, category);
            plot_.stepped_area(time_.edges, lower, upper, "band " + css, name);
            add_name(lower, upper, name);
            if (most * seen_share >= highest_) {
                legend_ += legend_item(css, name);
            }
        }
        lower = upper;
    }
}

/// Keeps where a band has room for its name, if it has.
void CategoryChart::add_name(const std::vector<double>& lower, const std::vector<double>& upper,
                             const std::string& name) {
    constexpr double line = 16;  // pixels
    PlotBand band;
    for (size_t c = 0; c < lower.size(); ++c) {
        band.tops.push_back(plot_.y(upper[c]));
        band.bottoms.push_back(plot_.y(lower[c]));
    }
    const double width = plot_.x(time_.range().high) - plot_.x(time_.range().low);
    const double column = width / static_cast<double>(lower.size());
    const auto columns = static_cast<size_t>(std::ceil(text_width(name) / column));
    if (const auto place = band_place(band, columns, line)) {
        const double middle = (place->top + place->bottom) / 2;
        names_.push_back({time_.edges[place->first], time_.edges[place->first + columns], middle, name});
    }
}

/// Writes the names above all bands and lines.
void CategoryChart::names() {
    for (const BandName& each : names_) {
        plot_.name((each.from + each.to) / 2, each.middle, each.name, "band");
    }
}

void CategoryChart::series_lines() {
    for (const Series series : lines) {
        std::vector<double> bytes;
        for (size_t c = 0; c < time_.columns.size(); ++c) {
            bytes.push_back(static_cast<double>(of(c, series)));
        }
        const std::string css = "series " + key_class(series);
        plot_.stepped_line(time_.edges, bytes, css);
        legend_ += legend_item(css, series_name(series, words_));
    }
}

void CategoryChart::peak() {
    const Extremes peak = reported_.context.curves().peak(Series::allocated);
    if (peak.max > 0) {
        const int64_t time = reported_.context.device().time_of_state(peak.max_event);
        plot_.pointer(static_cast<double>(time), static_cast<double>(peak.max),
                      words_("peak {bytes} allocated", with("bytes", format_bytes(peak.max))), "peak");
    }
}

/// Labels the last out-of-memory error, above the peak; the others often follow each other closely.
void CategoryChart::errors() {
    const DeviceHistory& device = reported_.context.device();
    const OtherEvent* last = nullptr;
    for (const OtherEvent& other : device.others) {
        if (other.action == Action::oom) {
            last = &other;
            plot_.upright(static_cast<double>(device.time_of_state(other.event + 1)), "failure", "");
        }
    }
    if (last != nullptr) {
        plot_.label(static_cast<double>(device.time_of_state(last->event + 1)),
                    static_cast<double>(highest_) * headroom, event_words(words_, device, last->event), "failure");
    }
}

std::string CategoryChart::hint(size_t column) const {
    std::string text = format_time_point(static_cast<int64_t>(time_.edges[column]));
    for (const Series series : lines) {
        text += fmt::format("\n{}: {}", series_name(series, words_), format_bytes(of(column, series)));
    }
    for (size_t group = group_count_; group-- > 0;) {
        if (of(column, group) > 0) {
            text += fmt::format("\n{}: {}", category_name(words_, category_of_group(group)),
                                format_bytes(of(column, group)));
        }
    }
    return text;
}

}  // namespace

std::string category_chart(const ReportInput& reported, const Words& words) {
    const bool is_timed = has_times(reported.context.trace(), reported.context.device());
    return is_timed || reported.context.graph() != nullptr ? CategoryChart(reported, words).draw() : "";
}

}  // namespace tidemark
