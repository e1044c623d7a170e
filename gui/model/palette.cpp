// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/palette.h"

#include <QApplication>
#include <QPalette>
#include <algorithm>
#include <array>
#include <cmath>

#include "storage/report/html_colors.h"
#include "storage/text/color_key.h"

namespace tidemark::gui {

namespace {

// The colors of stacks, modules and other groups, which are not in the color key: hues of categories, in an order in
// which neighbors differ most.
constexpr std::array group_hues = {Category::buffer,        Category::input,           Category::saved,
                                   Category::gradient,      Category::parameter,       Category::output,
                                   Category::communication, Category::optimizer_state, Category::temporary};
// Viridis at five even steps.
constexpr std::array<QRgb, 5> scale_stops = {0xff440154, 0xff3b528b, 0xff21918c, 0xff5ec962, 0xfffde725};

QColor of_theme(const Theme& theme, KeyColor key) { return QColor::fromRgb(theme.dark ? key.dark : key.light); }

/// Returns a shade that differs more from the background: darker on light, lighter on dark.
QColor shaded(const Theme& theme, const QColor& base, double part) {
    return mixed(base, theme.dark ? QColor(Qt::white) : QColor(Qt::black), part);
}

/// Returns the relative luminance of WCAG, 0 to 1.
double luminance(const QColor& color) {
    const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

/// Returns a shade for the light theme. Darker shades of a dark color are nearly black, as the line of nvidia-smi: it
/// has one lighter and one a little darker. `step`: the darker shade of another color.
QColor light_shade(const QColor& base, int nth, double step) {
    constexpr double dark = 0.13;
    if (luminance(base) > dark) {
        return mixed(base, Qt::black, step);
    }
    constexpr double lighter = 0.28, darker = 0.3;
    const int shade = nth % 3;
    return shade == 0 ? base : shade == 1 ? mixed(base, Qt::white, lighter) : mixed(base, Qt::black, darker);
}

void take_key_colors(Theme& theme) {
    theme.allocated_line = of_theme(theme, series_key(Series::allocated));
    theme.active_line = of_theme(theme, series_key(Series::active));
    theme.reserved_line = of_theme(theme, series_key(Series::reserved));
    theme.requested_line = of_theme(theme, series_key(Series::requested));
    theme.oom = of_theme(theme, severity_key(Severity::failure));
    theme.pending = component_color(theme, ComponentKind::pending, 0);
    theme.rounding = component_color(theme, ComponentKind::rounding, 0);
    theme.unknown = component_color(theme, ComponentKind::unknown, 0);
}

}  // namespace

QColor mixed(const QColor& a, const QColor& b, double part) {
    const auto channel = [part](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * part)); };
    return QColor(channel(a.red(), b.red()), channel(a.green(), b.green()), channel(a.blue(), b.blue()));
}

Theme Theme::light() {
    Theme t;
    t.dark = false;
    t.background = QColor(0xf4, 0xf5, 0xf7);
    t.plot_background = QColor(0xff, 0xff, 0xff);
    t.text = QColor(0x1c, 0x22, 0x2b);
    t.faint_text = QColor(0x5a, 0x65, 0x73);
    t.grid = QColor(0xe3, 0xe6, 0xea);
    t.selection = QColor(0xd8, 0x1b, 0x7a);
    t.cursor = QColor(0x10, 0x14, 0x1a);
    t.focus = QColor(0x0b, 0x5c, 0xad);
    t.cached = t.plot_background;
    take_key_colors(t);
    return t;
}

Theme Theme::dark_theme() {
    Theme t;
    t.dark = true;
    t.background = QColor(0x1b, 0x1f, 0x25);
    t.plot_background = QColor(0x13, 0x16, 0x1b);
    t.text = QColor(0xe4, 0xe8, 0xee);
    t.faint_text = QColor(0x98, 0xa4, 0xb3);
    t.grid = QColor(0x2a, 0x30, 0x38);
    t.selection = QColor(0xff, 0x5f, 0xb4);
    t.cursor = QColor(0xf5, 0xf7, 0xfa);
    t.focus = QColor(0x6c, 0xb6, 0xff);
    t.cached = t.plot_background;
    take_key_colors(t);
    return t;
}

Theme Theme::current() {
    const QPalette palette = QApplication::palette();
    const bool dark = palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
    return dark ? dark_theme() : light();
}

QColor group_color(const Theme& theme, int index, int count) {
    if (index < 0 || index >= count - 1) {
        return category_color(theme, Category::unknown);
    }
    const auto position = static_cast<size_t>(index);
    const QColor base = category_color(theme, group_hues[position % group_hues.size()]);
    // Further uses of the hues are shades, so that more groups stay distinguishable.
    const size_t uses = position / group_hues.size();
    return shaded(theme, base, std::min(0.3 * static_cast<double>(uses), 0.6));
}

QColor id_color(const Theme& theme, uint32_t id) {
    uint32_t hash = id * 0x9e3779b1u;
    hash ^= hash >> 15;
    const QColor base = category_color(theme, group_hues[hash % group_hues.size()]);
    return shaded(theme, base, static_cast<double>((hash >> 8) % 5) * 0.11);
}

QColor component_color(const Theme& theme, ComponentKind kind, int nth) {
    // Neighbors in this order differ most.
    constexpr std::array<double, 4> steps = {0, 0.57, 0.29, 0.71};
    const double step = steps[static_cast<size_t>(nth) % steps.size()];
    const QColor base = of_theme(theme, component_key(kind));
    if (!theme.dark) {
        return light_shade(base, nth, step);
    }
    // A color that is nearly white has no lighter shades. Darker ones must still differ from the background.
    constexpr double very_light = 0.6, range = 0.7;
    return mixed(base, luminance(base) > very_light ? Qt::black : Qt::white, range * step);
}

QColor category_color(const Theme& theme, Category category) { return of_theme(theme, category_key(category)); }

QColor node_state_color(const Theme& theme, NodeState state) {
    switch (state) {
        case NodeState::never_executed: return component_color(theme, ComponentKind::requested, 0);
        case NodeState::executed: return theme.rounding;
        default: return theme.unknown;
    }
}

QColor text_color_on(const QColor& background) {
    constexpr double middle = 0.179;  // white and black differ from it by the same contrast, 4.58
    return luminance(background) > middle ? QColor(Qt::black) : QColor(Qt::white);
}

QColor scale_color(const Theme& theme, double value) {
    // The scale leaves out the colors that are too close to the background.
    const double low = theme.dark ? 0.38 : 0.0, high = theme.dark ? 1.0 : 0.56;
    const double place = (low + (high - low) * std::clamp(value, 0.0, 1.0)) * (scale_stops.size() - 1);
    const auto stop = std::min(static_cast<size_t>(place), scale_stops.size() - 2);
    return mixed(QColor::fromRgb(scale_stops[stop]), QColor::fromRgb(scale_stops[stop + 1]),
                 place - static_cast<double>(stop));
}

}  // namespace tidemark::gui
