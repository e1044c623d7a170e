// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The curve of one quantity: a line above a faint area.
#pragma once

#include <QPainter>
#include <span>

#include "gui/model/finding_curve.h"
#include "gui/widgets/coordinates.h"

namespace tidemark::gui {

/// Draws one column per pixel from `left` on, down to `bottom`. `line`: pixels.
void paint_curve(QPainter& painter, std::span<const FindingCurve::Column> columns, double left, double bottom,
                 const AxisMap& y, const QColor& color, bool dark, double line = 2);

}  // namespace tidemark::gui
