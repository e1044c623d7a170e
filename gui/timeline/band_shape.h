// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A band of a stacked plot as a shape, for what is drawn over a picture and for SVG.
#pragma once

#include <QPolygonF>
#include <cstdint>
#include <span>

#include "gui/widgets/coordinates.h"
#include "gui/widgets/qcp.h"

class QBrush;

namespace tidemark::gui {

/// The edges of a band from left to right. Each has two points for each run of columns of the same height.
struct BandShape {
    QPolygonF upper, lower;
};

/// Returns the shape of columns side by side between two axis positions. `bottoms`, `tops`: bytes by column.
BandShape band_shape(std::span<const int64_t> bottoms, std::span<const int64_t> tops, Span columns, const AxisMap& x,
                     const AxisMap& y);

/// Fills the band. A line of the background separates it from the band below where it is high enough, as
/// ColumnCanvas::fill_band() does. `floor`: the pixel of 0 bytes.
void paint_band(QCPPainter& painter, const BandShape& shape, const QBrush& brush, const QColor& background,
                double floor);
/// Fills the band of unknown memory, hatched.
void paint_unknown_band(QCPPainter& painter, const BandShape& shape, const QColor& color, const QColor& background,
                        double floor);

}  // namespace tidemark::gui
