// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Places boxes in layers so that edges lead down, cross little and run straight (after Sugiyama).
#pragma once

#include <QPointF>
#include <QPolygonF>
#include <QSizeF>
#include <optional>
#include <vector>

#include "storage/base/progress.h"

namespace tidemark::gui {

struct LayoutEdge {
    int from = 0, to = 0;
};

struct LayoutSpacing {
    double between_boxes = 18, between_layers = 26, lane = 10;  ///< lane: width of an edge that passes a layer
};

struct LayeredLayout {
    std::vector<QPointF> top_left;  ///< of each box
    std::vector<QPolygonF> routes;  ///< of each edge, from the upper box's bottom to the lower one's top
    std::vector<bool> upward;       ///< edges of a cycle that lead up; their routes still run down
    QSizeF size;
};

/// Boxes stay in the given order unless edges demand another: the same input gives the same
/// picture, and a box that only grew moves no other box past its neighbor. The box `first` (or `last`) gets
/// the top (bottom) layer; -1: none. Returns nothing if canceled. Thread: any.
std::optional<LayeredLayout> lay_out(const std::vector<QSizeF>& boxes, const std::vector<LayoutEdge>& edges,
                                     const LayoutSpacing& spacing, const Progress& progress, int first = -1,
                                     int last = -1);

}  // namespace tidemark::gui
