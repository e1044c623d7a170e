// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Plots as SVG inside a page; the style sheet of the page sets the colors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Escapes markup for HTML and its attributes; replaces control characters and broken UTF-8.
std::string html_escaped(std::string_view text);

struct Tick {
    double value = 0;
    std::string label;
};
/// At most six, at multiples of binary units.
std::vector<Tick> byte_ticks(int64_t low, int64_t high);
/// The same for nanoseconds since the trace's start.
std::vector<Tick> time_ticks(int64_t start, int64_t end);
/// The same for whole numbers.
std::vector<Tick> number_ticks(int64_t first, int64_t last);

struct Range {
    double low = 0, high = 1;
};
/// Starts at zero, unless the values differ by less than a third of the highest: then it is around them.
Range range_of(std::span<const int64_t> values);

struct PlotSize {
    int width = 960, height = 300;
    int above = 14;  ///< room over the plot, for flags
};

/// One picture: axes, then shapes in the order of the calls. CSS classes are those of the style sheet of the page.
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
    /// Broken where a value is missing (NaN).
    void line(std::span<const double> xs, std::span<const double> ys, std::string_view css);
    void dot(double at, double value, std::string_view css, std::string_view hint);
    /// An upright line over the plot's height.
    void upright(double at, std::string_view css, std::string_view hint);
    /// A mark over the plot, with a line down from it.
    void flag(double at, int row, std::string_view label, std::string_view css, std::string_view hint);
    /// An invisible column that shows `hint` under the pointer.
    void column(double from, double to, std::string_view hint);

    /// `label` describes the picture for screen readers.
    std::string svg(std::string_view label) const;

private:
    static constexpr int left_margin = 78, right_margin = 14, below = 24;

    PlotSize size_;
    Range x_, y_;
    std::string body_;
};

}  // namespace tidemark
