// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/job_heat_map.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "storage/base/units.h"
#include "storage/job/job_rows.h"
#include "storage/report/chart_parts.h"
#include "storage/report/html_colors.h"
#include "storage/report/layout.h"
#include "storage/report/svg.h"

namespace tidemark {
namespace {

constexpr int width = 960, columns = 160, most_rows = 256, axis_height = 24, key_width = 160, key_height = 10;
constexpr int least_row = 6, most_row = 26, room = 420;  ///< heights of rows, and of all of them if that is enough
constexpr int names_of_row = 14;                         ///< rows that are lower have no room for a name each
constexpr int widest_name = 24;                          ///< columns of text
constexpr double text_column = 7.2;                      ///< pixels

std::string rect(double x, double y, double w, double h, const std::string& css, const std::string& hint) {
    return fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">{}</rect>)", css, x, y,
                       w, h, hint.empty() ? "" : fmt::format("<title>{}</title>", html_escaped(hint)));
}

std::string text_at(double x, double y, std::string_view anchor, const std::string& text) {
    return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", x, y, anchor, html_escaped(text));
}

class HeatMapPicture {
public:
    HeatMapPicture(const JobRows& rows, const Words& words)
        : rows_(rows),
          words_(words),
          count_(std::min(rows.size(), most_rows)),
          height_(std::clamp(room / std::max(count_, 1), least_row, most_row)) {
        size_t widest = 0;
        for (int row = 0; row < count_; ++row) {
            widest = std::max(widest, display_width(rows.name(row, words)));
        }
        left_ = text_column * static_cast<double>(std::min<size_t>(widest, widest_name)) + 10;
    }

    std::string draw() const {
        std::string body;
        for (int row = 0; row < count_; ++row) {
            body += name(row) + cells(row);
        }
        body += axis() + key();
        return fmt::format(
            "<svg class=\"plot\" shape-rendering=\"crispEdges\" viewBox=\"0 0 {} {}\" role=\"img\" "
            "aria-label=\"{}\">{}</svg>",
            width, count_ * height_ + 2 * axis_height, html_escaped(words_("Memory of all processes over time")), body);
    }

private:
    double top(int row) const { return row * height_; }

    std::string name(int row) const {
        const int every = std::max(1, (names_of_row + height_ - 1) / height_);
        return row % every != 0 ? "" : text_at(left_ - 8, top(row) + height_ / 2.0 + 4, "end", rows_.name(row, words_));
    }

    /// Returns the highest value within a column, so that no peak disappears; nothing outside of the process.
    std::optional<int64_t> value_in(int row, int column) const {
        constexpr int samples = 16;  // more than a summary has in it
        const auto [from, to] = rows_.span();
        std::optional<int64_t> most;
        for (int sample = 0; sample < samples; ++sample) {
            const double part = (column + (sample + 0.5) / samples) / columns;
            const auto bytes = rows_.value_at(row, from + static_cast<int64_t>(part * static_cast<double>(to - from)));
            most = bytes ? std::max(bytes, most) : most;
        }
        return most;
    }

    /// Neighbors of one color are one rectangle, with the most of them.
    std::string cells(int row) const {
        const auto highest = static_cast<double>(rows_.highest(row));
        std::string body, css;
        int64_t most = 0;
        int begin = 0;
        const auto end_run = [&](int end) {
            if (!css.empty()) {
                const double cell = (width - left_) / columns;
                body += rect(left_ + begin * cell, top(row), (end - begin) * cell,
                             height_ - (height_ > least_row ? 1 : 0), css,
                             words_("{process}: {bytes}", with("process", rows_.name(row, words_)),
                                    with("bytes", format_bytes(most))));
            }
        };
        for (int column = 0; column < columns; ++column) {
            const auto bytes = value_in(row, column);
            std::string next = bytes ? heat_class(static_cast<double>(*bytes) / highest) : "";
            if (next != css) {
                end_run(column);
                css = std::move(next);
                begin = column;
                most = 0;
            }
            most = std::max(most, bytes.value_or(0));
        }
        end_run(columns);
        return body;
    }

    std::string axis() const {
        const auto [from, to] = rows_.span();
        const int64_t start = rows_.explained().job.span().first;
        const auto after = [&](int64_t time) {
            return time == start ? words_("start of the job")
                                 : words_("{time} after the start", with("time", format_duration(time - start)));
        };
        const double baseline = count_ * height_ + 16;
        return text_at(left_, baseline, "start", after(from)) + text_at(width, baseline, "end", after(to));
    }

    std::string key() const {
        constexpr int steps = 32;
        const double y = count_ * height_ + axis_height + 6, x = left_ + 20;
        std::string body = text_at(x - 6, y + key_height, "end", "0");
        for (int step = 0; step < steps; ++step) {
            body +=
                rect(x + step * key_width / static_cast<double>(steps), y, key_width / static_cast<double>(steps) + 0.3,
                     key_height, heat_class(step / (steps - 1.0)), "");
        }
        return body + text_at(x + key_width + 6, y + key_height, "start", format_bytes(rows_.highest(0)));
    }

    const JobRows& rows_;
    const Words& words_;
    int count_, height_;
    double left_ = 0;
};

}  // namespace

std::string job_heat_map(const JobReportInput& reported, const Words& words) {
    const JobRows rows(std::make_shared<const ExplainedJob>(ExplainedJob{reported.job, reported.explanation}),
                       JobValue::allocated, JobOrder::rank, true);
    if (rows.empty()) {
        return {};
    }
    std::string title = words("Allocated memory of each process over time");
    if (rows.size() > most_rows) {
        title += ' ' + words("(the first {n} of {count})", with("n", static_cast<int64_t>(most_rows)),
                             with("count", format_count(rows.size())));
    }
    return figure_of(title, HeatMapPicture(rows, words).draw());
}

}  // namespace tidemark
