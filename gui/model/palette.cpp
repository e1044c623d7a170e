// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/model/palette.h"

#include <QApplication>
#include <QPalette>
#include <algorithm>
#include <array>
#include <cmath>

namespace tidemark::gui {

namespace {

// Paul Tol's "muted" scheme: distinguishable with every common kind of color blindness.
constexpr std::array<QRgb, 9> group_colors_light = {0xff88ccee, 0xff44aa99, 0xffddcc77, 0xffcc6677, 0xff117733,
                                                    0xff999933, 0xff6a5acd, 0xffaa4499, 0xff882255};
// The same hues; the dark ones are lighter, for a dark background.
constexpr std::array<QRgb, 9> group_colors_dark = {0xff6fb4d8, 0xff3d9c8c, 0xffd0be68, 0xffc8606f, 0xff2f8f50,
                                                   0xff9a9a3c, 0xff8678e0, 0xffb3559f, 0xffa63f73};
// Viridis at five even steps.
constexpr std::array<QRgb, 5> scale_stops = {0xff440154, 0xff3b528b, 0xff21918c, 0xff5ec962, 0xfffde725};

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
    t.allocated_line = QColor(0x20, 0x28, 0x33);
    t.active_line = QColor(0x8a, 0x5a, 0x00);
    t.reserved_line = QColor(0x00, 0x5f, 0xb0);
    t.requested_line = QColor(0x3a, 0x7d, 0x44);
    t.cached = t.plot_background;
    t.pending = QColor(0xe0, 0xa8, 0x2e);
    t.rounding = QColor(0xc9, 0x4a, 0x1c);
    t.unknown = QColor(0x9a, 0xa3, 0xae);
    t.oom = QColor(0xc6, 0x1a, 0x09);
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
    t.allocated_line = QColor(0xee, 0xf1, 0xf5);
    t.active_line = QColor(0xf0, 0xb9, 0x4a);
    t.reserved_line = QColor(0x5c, 0xb2, 0xff);
    t.requested_line = QColor(0x7c, 0xcf, 0x8a);
    t.cached = t.plot_background;
    t.pending = QColor(0xe0, 0xa8, 0x2e);
    t.rounding = QColor(0xff, 0x7a, 0x4a);
    t.unknown = QColor(0x6d, 0x78, 0x86);
    t.oom = QColor(0xff, 0x6b, 0x5b);
    return t;
}

Theme Theme::current() {
    const QPalette palette = QApplication::palette();
    const bool dark = palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
    return dark ? dark_theme() : light();
}

QColor group_color(const Theme& theme, int index, int count) {
    if (index < 0 || index >= count - 1) {
        return theme.dark ? QColor(0x5b, 0x64, 0x70) : QColor(0xc3, 0xc8, 0xcf);
    }
    const auto& colors = theme.dark ? group_colors_dark : group_colors_light;
    const auto position = static_cast<size_t>(index);
    const QColor base = QColor::fromRgb(colors[position % colors.size()]);
    // The second use of the nine hues is lighter, so that more groups stay distinguishable.
    const double iteration = static_cast<double>(position / colors.size());
    return iteration > 0
               ? mixed(base, theme.dark ? QColor(Qt::white) : QColor(Qt::black), std::min(0.3 * iteration, 0.6))
               : base;
}

QColor id_color(const Theme& theme, uint32_t id) {
    uint32_t hash = id * 0x9e3779b1u;
    hash ^= hash >> 15;
    const auto& colors = theme.dark ? group_colors_dark : group_colors_light;
    const QColor base = QColor::fromRgb(colors[hash % colors.size()]);
    const double shade = static_cast<double>((hash >> 8) % 4) * 0.11;
    return mixed(base, (hash >> 12) % 2 ? QColor(Qt::white) : QColor(Qt::black), shade);
}

QColor component_color(const Theme& theme, ComponentKind kind, int nth) {
    const auto by_nth = [&](QColor base) {
        return mixed(base, theme.dark ? QColor(Qt::white) : QColor(Qt::black), 0.16 * (nth % 4));
    };
    switch (kind) {
        case ComponentKind::requested: return theme.dark ? QColor(0x5a, 0x93, 0xd0) : QColor(0x44, 0x77, 0xaa);
        case ComponentKind::rounding: return theme.rounding;
        case ComponentKind::pending: return theme.pending;
        case ComponentKind::free_in_segments: return mixed(theme.reserved_line, theme.cached, 0.62);
        case ComponentKind::cached_segments: return mixed(theme.reserved_line, theme.cached, 0.82);
        case ComponentKind::private_pools: return theme.dark ? QColor(0xb3, 0x55, 0x9f) : QColor(0xaa, 0x44, 0x99);
        case ComponentKind::driver_pools: return mixed(theme.reserved_line, theme.cached, 0.72);
        case ComponentKind::library: return by_nth(theme.dark ? QColor(0x3d, 0x9c, 0x8c) : QColor(0x44, 0xaa, 0x99));
        case ComponentKind::context: return theme.dark ? QColor(0xd0, 0xbe, 0x68) : QColor(0xdd, 0xcc, 0x77);
        case ComponentKind::kernels: return theme.dark ? QColor(0x9a, 0x9a, 0x3c) : QColor(0x99, 0x99, 0x33);
        case ComponentKind::other_processes:
            return by_nth(theme.dark ? QColor(0x64, 0x6d, 0x79) : QColor(0xb4, 0xba, 0xc2));
        case ComponentKind::unknown: return theme.unknown;
    }
    return theme.unknown;
}

QColor category_color(const Theme& theme, Category category) {
    const auto either = [&](QRgb light, QRgb dark) { return QColor::fromRgb(theme.dark ? dark : light); };
    switch (category) {
        case Category::parameter: return either(0xff6a5acd, 0xff8678e0);
        case Category::buffer: return either(0xff88ccee, 0xff6fb4d8);
        case Category::gradient: return either(0xffcc6677, 0xffc8606f);
        case Category::optimizer_state: return either(0xff117733, 0xff2f8f50);
        case Category::saved: return either(0xffe5a83b, 0xffe0b04e);
        case Category::input: return either(0xff44aa99, 0xff3d9c8c);
        case Category::output: return either(0xffdddd77, 0xffc9c95e);
        case Category::temporary: return either(0xff882255, 0xffa63f73);
        case Category::workspace: return either(0xff4477aa, 0xff5a93d0);
        case Category::communication: return either(0xffaa4499, 0xffd06fbf);
        case Category::unknown: break;
    }
    return theme.dark ? QColor(0x5b, 0x64, 0x70) : QColor(0xc3, 0xc8, 0xcf);
}

QColor node_state_color(const Theme& theme, NodeState state) {
    switch (state) {
        case NodeState::never_executed: return theme.dark ? QColor(0x5a, 0x93, 0xd0) : QColor(0x44, 0x77, 0xaa);
        case NodeState::executed: return theme.rounding;
        default: return theme.unknown;
    }
}

QColor text_color_on(const QColor& background) {
    return qGray(background.rgb()) > 120 ? QColor(0x14, 0x18, 0x1e) : QColor(Qt::white);
}

QColor scale_color(const Theme& theme, double value) {
    // The scale leaves out the fifth that is too close to the background: the darkest on dark, the lightest on light.
    const double low = theme.dark ? 0.18 : 0.0, high = theme.dark ? 1.0 : 0.92;
    const double place = (low + (high - low) * std::clamp(value, 0.0, 1.0)) * (scale_stops.size() - 1);
    const auto stop = std::min(static_cast<size_t>(place), scale_stops.size() - 2);
    return mixed(QColor::fromRgb(scale_stops[stop]), QColor::fromRgb(scale_stops[stop + 1]),
                 place - static_cast<double>(stop));
}

}  // namespace tidemark::gui
