// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "storage/base/units.h"
#include "storage/report/chart_parts.h"
#include "storage/report/charts.h"
#include "storage/report/html_colors.h"
#include "storage/report/phrases.h"
#include "storage/report/svg.h"
#include "storage/text/fact_words.h"

namespace tidemark {
namespace {

constexpr size_t kind_count = static_cast<size_t>(ComponentKind::unknown) + 1;

/// One point in time of the plot.
struct Slice {
    int64_t time = 0;
    std::array<int64_t, kind_count> bytes{};
    std::optional<int64_t> device_used;

    int64_t total() const {
        int64_t sum = 0;
        for (const int64_t component : bytes) {
            sum += std::max<int64_t>(0, component);
        }
        return sum;
    }
};

/// Returns the point in time with most allocated memory in each column, so that no peak is lost.
std::vector<int64_t> time_points_of(const AnalysisContext& context, const ShownTime& shown_time) {
    constexpr int columns = 200;
    std::vector<int64_t> time_points{shown_time.start};
    EventNumber seen = context.device().events_until(shown_time.start);
    for (int i = 1; i <= columns; ++i) {
        const auto end = shown_time.start +
                         static_cast<int64_t>(static_cast<double>(shown_time.end - shown_time.start) * i / columns);
        const EventNumber until = context.device().events_until(end);
        time_points.push_back(
            until == seen
                ? end
                : context.device().time_of_state(context.curves().extremes(Series::active, seen + 1, until).max_event));
        seen = until;
    }
    time_points.back() = std::max(time_points.back(), shown_time.end);
    return time_points;
}

std::vector<Slice> slices_of(const AnalysisContext& context, const ShownTime& shown_time) {
    std::vector<Slice> slices;
    const std::vector<int64_t> time_points = time_points_of(context, shown_time);
    const std::vector<BreakdownRow> rows = context.breakdown().band(time_points);
    for (size_t i = 0; i < rows.size(); ++i) {
        Slice& slice = slices.emplace_back();
        slice.time = time_points[i];
        slice.device_used = rows[i].device_used;
        for (const Component& component : rows[i].components) {
            slice.bytes[static_cast<size_t>(component.kind)] += component.bytes;
        }
    }
    return slices;
}

/// The point in time of a finding.
struct Flag {
    int64_t time = 0;
    int row = 0;
    size_t number = 0;
    Severity severity = Severity::pattern;
    std::string hint;
};

class Flags {
public:
    Flags(const ReportInput& reported, const ShownTime& shown_time) : reported_(reported), shown_time_(shown_time) {
        size_t number = 0;
        for (const Finding& finding : reported.explanation.findings) {
            ++number;
            for (const Evidence& evidence : finding.evidence) {
                add(finding, number, evidence);
            }
        }
        arrange();
    }
    const std::vector<Flag>& all() const { return flags_; }
    int rows() const { return rows_; }

private:
    void add(const Finding& finding, size_t number, const Evidence& evidence);
    void arrange();

    const ReportInput& reported_;
    const ShownTime shown_time_;
    std::vector<Flag> flags_;
    int rows_ = 0;
};

void Flags::add(const Finding& finding, size_t number, const Evidence& evidence) {
    if (finding.severity == Severity::background || (!evidence.event && !evidence.time)) {
        return;
    }
    const int64_t time = evidence.event ? reported_.context.device().time_of_state(*evidence.event) : *evidence.time;
    if (time < shown_time_.start || time > shown_time_.end) {
        return;
    }
    const auto same = std::find_if(flags_.begin(), flags_.end(),
                                   [&](const Flag& flag) { return flag.number == number && flag.time == time; });
    Flag& flag = same == flags_.end()
                     ? flags_.emplace_back(Flag{time, 0, number, finding.severity,
                                                fmt::format("{}\n{}", finding.title, format_time_point(time))})
                     : *same;
    flag.hint += "\n" + evidence.text;
}

/// Puts each flag into the lowest row where it overlaps no other. Omits flags that need more rows.
void Flags::arrange() {
    constexpr double flag_width = 20, plot_width = 868;
    constexpr size_t most_rows = 4;
    std::stable_sort(flags_.begin(), flags_.end(), [](const Flag& a, const Flag& b) { return a.time < b.time; });
    std::vector<double> row_ends;
    std::erase_if(flags_, [&](Flag& flag) {
        const double at = plot_width * static_cast<double>(flag.time - shown_time_.start) /
                          static_cast<double>(shown_time_.end - shown_time_.start);
        const auto row = std::find_if(row_ends.begin(), row_ends.end(), [&](double end) { return end <= at; });
        flag.row = static_cast<int>(row - row_ends.begin());
        if (row == row_ends.end() && row_ends.size() == most_rows) {
            return true;
        }
        (row == row_ends.end() ? row_ends.emplace_back() : *row) = at + flag_width;
        return false;
    });
    rows_ = static_cast<int>(row_ends.size());
}

/// Draws one chart, from back to front.
class ComponentsChart {
public:
    ComponentsChart(const ReportInput& reported, const Words& words)
        : reported_(reported),
          words_(words),
          shown_time_(charted_time(reported)),
          slices_(slices_of(reported.context, shown_time_)),
          flags_(reported, shown_time_),
          highest_(highest()),
          plot_({960, 280 + flags_.rows() * 17, 10 + flags_.rows() * 17},
                {static_cast<double>(shown_time_.start), static_cast<double>(shown_time_.end)},
                {0, static_cast<double>(highest_) * 1.04}) {
        for (const Slice& slice : slices_) {
            xs_.push_back(static_cast<double>(slice.time));
        }
    }

    std::string draw() {
        if (highest_ <= 1) {
            return {};
        }
        plot_.axes(time_ticks(shown_time_.start, shown_time_.end), byte_ticks(0, highest_));
        components();
        device_line();
        legend_ += draw_iterations(plot_, reported_, shown_time_, words_);
        columns();
        flags();
        const std::string title = words_("Memory breakdown over time");
        return fmt::format("<figure><figcaption>{}</figcaption>{}<ul class=\"legend\">{}</ul></figure>\n",
                           html_escaped(title), plot_.svg(title), legend_);
    }

private:
    int64_t highest() const {
        int64_t most = 1;
        for (const Slice& slice : slices_) {
            most = std::max({most, slice.total(), slice.device_used.value_or(0)});
        }
        return most;
    }
    int64_t thickest(size_t kind) const {
        const auto most = std::max_element(slices_.begin(), slices_.end(), [&](const Slice& a, const Slice& b) {
            return a.bytes[kind] < b.bytes[kind];
        });
        return most->bytes[kind];
    }
    void components();
    void device_line();
    void columns();
    void flags();
    std::string hint(const Slice& slice) const;
    void legend(std::string_view css, const std::string& name) { legend_ += legend_item(css, name); }

    const ReportInput& reported_;
    const Words& words_;
    const ShownTime shown_time_;
    const std::vector<Slice> slices_;
    const Flags flags_;
    const int64_t highest_;
    Plot plot_;
    std::vector<double> xs_;
    std::string legend_;
};

void ComponentsChart::components() {
    constexpr int64_t seen_share = 200;  // thinner parts are only shown under the mouse pointer
    std::vector<double> lower(slices_.size(), 0), upper = lower;
    for (size_t kind = 0; kind < kind_count; ++kind) {
        for (size_t i = 0; i < slices_.size(); ++i) {
            upper[i] = lower[i] + static_cast<double>(std::max<int64_t>(0, slices_[i].bytes[kind]));
        }
        if (upper != lower) {
            const std::string css = key_class(static_cast<ComponentKind>(kind)),
                              name = component_name(words_, static_cast<ComponentKind>(kind));
            plot_.area(xs_, lower, upper, "band " + css, name);
            if (thickest(kind) * seen_share >= highest_) {
                legend(css, name);
            }
        }
        lower = upper;
    }
}

void ComponentsChart::device_line() {
    std::vector<double> used;
    bool is_known = false;
    for (const Slice& slice : slices_) {
        is_known |= slice.device_used.has_value();
        used.push_back(slice.device_used ? static_cast<double>(*slice.device_used)
                                         : std::numeric_limits<double>::quiet_NaN());
    }
    if (is_known) {
        plot_.line(xs_, used, "smi");
        legend("smi", words_("nvidia-smi"));
    }
}

std::string ComponentsChart::hint(const Slice& slice) const {
    std::string text = format_time_point(slice.time);
    if (slice.device_used) {
        text += fmt::format("\n{}: {}", words_("nvidia-smi"), format_bytes(*slice.device_used));
    }
    for (size_t kind = kind_count; kind-- > 0;) {
        if (slice.bytes[kind] != 0) {
            text += fmt::format("\n{}: {}", component_name(words_, static_cast<ComponentKind>(kind)),
                                format_bytes(slice.bytes[kind]));
        }
    }
    return text;
}

void ComponentsChart::columns() {
    for (size_t i = 1; i < slices_.size(); ++i) {
        plot_.column(xs_[i - 1], xs_[i], hint(slices_[i]));
    }
}

void ComponentsChart::flags() {
    for (const Flag& flag : flags_.all()) {
        plot_.flag(static_cast<double>(flag.time), flag.row, std::to_string(flag.number), severity_word(flag.severity),
                   flag.hint);
    }
}

}  // namespace

std::string components_chart(const ReportInput& reported, const Words& words) {
    return ComponentsChart(reported, words).draw();
}

}  // namespace tidemark
