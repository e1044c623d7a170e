// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// One color means one thing in every pane. Safe for color blindness, readable on light and dark.
#pragma once

#include <QColor>

#include "storage/breakdown/breakdown.h"
#include "storage/graph/graph_index.h"
#include "storage/timeline/columns.h"

namespace tidemark::gui {

struct Theme {
    bool dark = false;
    QColor background, plot_background, text, faint_text, grid, selection, cursor, focus;
    QColor allocated_line, active_line, reserved_line, requested_line;
    QColor cached, pending, rounding, unknown, oom;  ///< cached looks empty, pending is striped, unknown hatched
    static Theme light();
    static Theme dark_theme();
    static Theme current();  ///< from the application's palette
};

/// The part of the background between the lines of unknown memory.
constexpr double light_of_unknown = 0.8;

/// Returns the color of group `index` of `count` in a Grouping; the last group ("other") is gray.
QColor group_color(const Theme& theme, int index, int count);
/// Returns a stable color for any id (stack, stream, pool), the same in every run.
QColor id_color(const Theme& theme, uint32_t id);
/// Returns the color of a component; `nth` distinguishes libraries, and processes.
QColor component_color(const Theme& theme, ComponentKind kind, int nth);
QColor category_color(const Theme& theme, Category category);
/// Returns the color of a node of the graph that is alive.
QColor node_state_color(const Theme& theme, NodeState state);
/// Returns a color between two; `part` of `b`, 0 to 1.
QColor mixed(const QColor& a, const QColor& b, double part);
/// Returns the color of text on this background.
QColor text_color_on(const QColor& background);
/// Returns a color of a sequential scale, 0 to 1 (age, size).
QColor scale_color(const Theme& theme, double value);

}  // namespace tidemark::gui
