// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the files of the painter share: what one drawing shows of each box.
#pragma once

#include <algorithm>

#include "gui/graph/graph_painter.h"

namespace tidemark::gui {

constexpr double box_strip = 5;  ///< the colored edge of a box, in scene units

struct GraphPainter::Pass {
    const Look& look;
    GraphDetail detail;
    std::vector<uint8_t> marks;  ///< by box; a collapsed frame has those of its content
    std::vector<bool> found;     ///< by box, as marks
    std::vector<Label> labels;
    bool is_choice = false;  ///< something is marked; the rest is dimmed

    const GraphPlace& place() const { return look.place; }
    bool dimmed(int box) const { return is_choice && marks[static_cast<size_t>(box)] == 0; }
    bool is_covered(const QRectF& rect) const {
        return std::any_of(labels.begin(), labels.end(), [&](const Label& l) { return l.rect.intersects(rect); });
    }
};

}  // namespace tidemark::gui
