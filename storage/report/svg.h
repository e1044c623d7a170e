// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Plots as SVG inside a page. The page's style sheet sets the colors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Escapes text for HTML and its attributes, also hidden characters: see visible_text().
std::string html_escaped(std::string_view text);
/// Like html_escaped(), but keeps line breaks: for source code, and text whose lines are Tidemark's own.
std::string html_escaped_lines(std::string_view text);

struct Tick {
    double value = 0;
    std::string label;
};
/// Returns at most six ticks, at multiples of binary units.
std::vector<Tick> byte_ticks(int64_t low, int64_t high);
/// Returns the same for nanoseconds since trace start.
std::vector<Tick> time_ticks(int64_t start, int64_t end);
/// Returns the same for whole numbers.
std::vector<Tick> number_ticks(int64_t first, int64_t last);

struct Range {
    double low = 0, high = 1;
};
/// Returns a range from zero, or around the values if they differ by less than a third of the highest.
Range range_of(std::span<const int64_t> values);

struct PlotSize {
    int width = 960, height = 300;
    int above = 14;  ///< space above the plot, for flags
};

/// One chart: axes, then shapes in the order of the calls. CSS classes are those of the page's style sheet.
class Plot {
public:
    Plot(PlotSize size, Range x, Range y);

    double x(double value) const;
    double y(double value) const;
    double bottom() const { return size_.height - below; }
    double top() const { return size_.above; }
    double right() const { return size_.width - right_margin; }

    void axes(std::span<const Tick> across, std::span<const Tick> up);
    void area(std::span<const double> xs, std::span<const double> lower, std::span<const double> upper,
              std::string_view css, std::string_view hint);
    /// Like area(), of values that are constant between the edges: one edge more than values.
    void stepped_area(std::span<const double> edges, std::span<const double> lower, std::span<const double> upper,
                      std::string_view css, std::string_view hint);
    /// Draws the upper border of such an area.
    void stepped_line(std::span<const double> edges, std::span<const double> values, std::string_view css);
    /// Draws a line that is interrupted at missing values (NaN).
    void line(std::span<const double> xs, std::span<const double> ys, std::string_view css);
    void dot(double at, double value, std::string_view css, std::string_view hint);
    /// Draws a vertical line over the plot's height.
    void upright(double at, std::string_view css, std::string_view hint);
    /// Draws a triangle that points down to a value, with `text` beside it.
    void pointer(double at, double value, std::string_view text, std::string_view css);
    /// Writes text to that side of a point where there is more room.
    void label(double at, double value, std::string_view text, std::string_view css);
    /// Writes text centered at a place of the x axis and a height in pixels.
    void name(double at, double middle, std::string_view text, std::string_view css);
    /// Draws a mark above the plot with a line down from it.
    void flag(double at, int row, std::string_view label, std::string_view css, std::string_view hint);
    /// Draws an invisible column that shows `hint` under the mouse pointer.
    void column(double from, double to, std::string_view hint);

    /// Returns the chart. `label` describes it for screen readers.
    std::string svg(std::string_view label) const;

private:
    static constexpr int left_margin = 78, right_margin = 14, below = 24;

    PlotSize size_;
    Range x_, y_;
    std::string body_;
};

}  // namespace tidemark
