// One colour means one thing in every pane. Colour-blind-safe, readable on light and dark.
#pragma once

#include <QColor>

#include "storage/breakdown/breakdown.h"
#include "storage/graph/graph_index.h"
#include "storage/timeline/columns.h"

namespace tidemark::gui {

struct Theme {
    bool dark = false;
    QColor background, plot_background, text, faint_text, grid, selection, cursor;
    QColor allocated_line, active_line, reserved_line, requested_line;
    QColor cached, pending, rounding, unknown, oom;  ///< idle looks empty, pending is striped, unknown hatched
    static Theme light();
    static Theme dark_theme();
    static Theme current();  ///< from the application's palette
};

/// Colour of group `index` of `count` in a Grouping; the last group ("the rest") is grey.
QColor group_color(const Theme& theme, int index, int count);
/// A stable colour for any id (stack, stream, pool), the same in every run.
QColor id_color(const Theme& theme, uint32_t id);
/// Of a layer of the ledger; `nth` tells apart libraries, and processes.
QColor component_color(const Theme& theme, ComponentKind kind, int nth);
QColor category_color(const Theme& theme, Category category);
/// Of a node of the graph that is alive: waiting, kept or released.
QColor node_state_color(const Theme& theme, NodeState state);
/// Sequential scale, 0 to 1 (age, size).
QColor scale_color(const Theme& theme, double value);

}  // namespace tidemark::gui
