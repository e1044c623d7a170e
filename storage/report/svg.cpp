// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "storage/base/ticks.h"
#include "storage/base/units.h"
#include "storage/base/utf8.h"
#include "storage/report/layout.h"

namespace tidemark {
namespace {

constexpr int most_ticks = 5;

/// Returns a tick with its `label` at every multiple of `step` between `low` and `high`.
template <class Label>
std::vector<Tick> multiples(int64_t low, int64_t high, double step, Label&& label) {
    std::vector<Tick> ticks;
    const auto last = static_cast<double>(high);
    for (double at = std::ceil(static_cast<double>(low) / step) * step; at <= last && std::ssize(ticks) <= most_ticks;
         at += step) {
        ticks.push_back({at, label(at)});
    }
    return ticks;
}

/// Returns the corners of steps, as x and y.
std::pair<std::vector<double>, std::vector<double>> corners(std::span<const double> edges,
                                                            std::span<const double> values) {
    std::vector<double> xs, ys;
    for (size_t i = 0; i < values.size(); ++i) {
        const bool is_inside = i > 0 && i + 1 < values.size();
        if (is_inside && values[i] == values[i - 1] && values[i] == values[i + 1]) {
            continue;
        }
        xs.insert(xs.end(), {edges[i], edges[i + 1]});
        ys.insert(ys.end(), 2, values[i]);
    }
    return {std::move(xs), std::move(ys)};
}

std::string title_of(std::string_view hint) {
    return hint.empty() ? "" : fmt::format("<title>{}</title>", html_escaped_lines(hint));
}

}  // namespace

namespace {

std::string with_entities(std::string_view text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '&': result += "&amp;"; break;
            case '<': result += "&lt;"; break;
            case '>': result += "&gt;"; break;
            case '"': result += "&quot;"; break;
            case '\'': result += "&#39;"; break;
            default: result += c;
        }
    }
    return result;
}

}  // namespace

std::string html_escaped(std::string_view text) { return with_entities(visible_text(text)); }
std::string html_escaped_lines(std::string_view text) { return with_entities(visible_lines(text)); }

std::vector<Tick> byte_ticks(int64_t low, int64_t high) {
    const double step = byte_tick_step(static_cast<double>(high - low), most_ticks);
    return multiples(low, high, step, [&](double bytes) { return byte_tick_label(bytes, step); });
}

std::vector<Tick> time_ticks(int64_t start, int64_t end) {
    const double step = std::max(1.0, decimal_tick_step(static_cast<double>(end - start), most_ticks));
    return multiples(start, end, step, [&](double time) { return time_tick_label(time, step); });
}

std::vector<Tick> number_ticks(int64_t first, int64_t last) {
    const double step = std::max(1.0, decimal_tick_step(static_cast<double>(last - first), most_ticks));
    return multiples(first, last, step, [](double number) { return format_count(static_cast<int64_t>(number)); });
}

Range range_of(std::span<const int64_t> values) {
    if (values.empty()) {
        return {};
    }
    const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
    const auto low = static_cast<double>(*lowest), high = static_cast<double>(*highest);
    const double span = std::max(high - low, 1.0);
    const bool is_from_zero = low >= 0 && high - low >= high / 3;
    const bool is_flat = high == low;
    return {is_from_zero || is_flat ? std::min(0.0, low) : low - span * 0.1,
            is_flat ? high * 1.2 + 1 : high + span * 0.08};
}

Plot::Plot(PlotSize size, Range x, Range y) : size_(size), x_(x), y_(y) {}

double Plot::x(double value) const {
    const double share = (value - x_.low) / std::max(x_.high - x_.low, 1e-9);
    return left_margin + std::clamp(share, 0.0, 1.0) * (right() - left_margin);
}

double Plot::y(double value) const {
    const double share = (value - y_.low) / std::max(y_.high - y_.low, 1e-9);
    return bottom() - std::clamp(share, 0.0, 1.0) * (bottom() - top());
}

void Plot::axes(std::span<const Tick> across, std::span<const Tick> up) {
    for (const Tick& tick : up) {
        const double at = y(tick.value);
        body_ += fmt::format(R"(<path class="grid" d="M{} {:.1f}H{:.1f}"/>)", left_margin, at, right());
        body_ += fmt::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)", left_margin - 8, at + 4,
                             html_escaped(tick.label));
    }
    for (const Tick& tick : across) {
        body_ += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x(tick.value),
                             bottom() + 17, html_escaped(tick.label));
    }
    body_ += fmt::format(R"(<path class="axis" d="M{} {:.1f}H{:.1f}"/>)", left_margin, bottom(), right());
}

void Plot::area(std::span<const double> xs, std::span<const double> lower, std::span<const double> upper,
                std::string_view css, std::string_view hint) {
    std::string path;
    for (size_t i = 0; i < xs.size(); ++i) {
        path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? 'M' : 'L', x(xs[i]), y(upper[i]));
    }
    for (size_t i = xs.size(); i-- > 0;) {
        path += fmt::format("L{:.1f} {:.1f}", x(xs[i]), y(lower[i]));
    }
    body_ += fmt::format(R"(<path class="{}" d="{}Z">{}</path>)", css, path, title_of(hint));
}

void Plot::stepped_area(std::span<const double> edges, std::span<const double> lower, std::span<const double> upper,
                        std::string_view css, std::string_view hint) {
    std::string path;
    const auto [top_xs, tops] = corners(edges, upper);
    for (size_t i = 0; i < top_xs.size(); ++i) {
        path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? 'M' : 'L', x(top_xs[i]), y(tops[i]));
    }
    const auto [bottom_xs, bottoms] = corners(edges, lower);
    for (size_t i = bottom_xs.size(); i-- > 0;) {
        path += fmt::format("L{:.1f} {:.1f}", x(bottom_xs[i]), y(bottoms[i]));
    }
    body_ += fmt::format(R"(<path class="{}" d="{}Z">{}</path>)", css, path, title_of(hint));
}

void Plot::stepped_line(std::span<const double> edges, std::span<const double> values, std::string_view css) {
    const auto [xs, ys] = corners(edges, values);
    line(xs, ys, css);
}

void Plot::line(std::span<const double> xs, std::span<const double> ys, std::string_view css) {
    std::string path;
    bool is_down = false;
    for (size_t i = 0; i < xs.size(); ++i) {
        const bool is_known = !std::isnan(ys[i]);
        if (is_known) {
            path += fmt::format("{}{:.1f} {:.1f}", is_down ? 'L' : 'M', x(xs[i]), y(ys[i]));
        }
        is_down = is_known;
    }
    if (!path.empty()) {
        body_ += fmt::format(R"(<path class="{}" d="{}"/>)", css, path);
    }
}

void Plot::dot(double at, double value, std::string_view css, std::string_view hint) {
    body_ += fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="3">{}</circle>)", css, x(at), y(value),
                         title_of(hint));
}

void Plot::upright(double at, std::string_view css, std::string_view hint) {
    body_ += fmt::format(R"(<path class="{}" d="M{:.1f} {:.1f}V{:.1f}">{}</path>)", css, x(at), top(), bottom(),
                         title_of(hint));
}

void Plot::pointer(double at, double value, std::string_view text, std::string_view css) {
    constexpr double half = 5, height = 8;
    const double left = x(at), tip = y(value) - 1;
    body_ +=
        fmt::format(R"(<path class="{}" d="M{:.1f} {:.1f}l{} {}h{}Z"/>)", css, left, tip, -half, -height, 2 * half);
    label(at, value, text, css);
}

void Plot::label(double at, double value, std::string_view text, std::string_view css) {
    constexpr double gap = 8;
    const bool is_left = x(at) > (left_margin + right()) / 2;
    body_ += fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", css,
                         x(at) + (is_left ? -gap : gap), std::max(y(value) - 3, top() + 9), is_left ? "end" : "start",
                         html_escaped(text));
}

void Plot::name(double at, double middle, std::string_view text, std::string_view css) {
    body_ += fmt::format(R"(<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", css, x(at),
                         middle + 4, html_escaped(text));
}

void Plot::flag(double at, int row, std::string_view label, std::string_view css, std::string_view hint) {
    constexpr double height = 15, width = 18;
    const double left = std::min(x(at), right() - width), up = 1 + row * (height + 2);
    body_ += fmt::format(R"(<g class="flag {}">{}<path d="M{:.1f} {:.1f}V{:.1f}"/>)", css, title_of(hint), x(at), up,
                         bottom());
    body_ += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{}" height="{}" rx="2"/>)", left, up, width, height);
    body_ += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text></g>)", left + width / 2,
                         up + 11.5, html_escaped(label));
}

void Plot::column(double from, double to, std::string_view hint) {
    body_ += fmt::format(R"(<rect class="column" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">{}</rect>)",
                         x(from), top(), std::max(1.0, x(to) - x(from)), bottom() - top(), title_of(hint));
}

std::string Plot::svg(std::string_view label) const {
    return fmt::format(R"(<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>)", size_.width,
                       size_.height, html_escaped(label), body_);
}

}  // namespace tidemark
