// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/band_shape.h"

#include <QBrush>

#include "gui/model/palette.h"

namespace tidemark::gui {

namespace {

void paint_separators(QCPPainter& painter, const BandShape& shape, double floor) {
    constexpr double thinnest = 5;  // pixels
    const QPolygonF &upper = shape.upper, &lower = shape.lower;
    for (qsizetype i = 0; i + 1 < lower.size(); i += 2) {
        const double y = lower[i].y();
        if (y - upper[i].y() < thinnest || y >= floor) {
            continue;
        }
        const double from = lower[i].x();
        while (i + 3 < lower.size() && lower[i + 2].y() == y && y - upper[i + 2].y() >= thinnest) {
            i += 2;
        }
        const double within = y - 0.5;  // the band's lowest pixel
        painter.drawLine(QPointF(from, within), QPointF(lower[i + 1].x(), within));
    }
}

}  // namespace

BandShape band_shape(std::span<const int64_t> bottoms, std::span<const int64_t> tops, Span columns, const AxisMap& x,
                     const AxisMap& y) {
    BandShape shape;
    const double width = (columns.to - columns.from) / static_cast<double>(std::max<size_t>(tops.size(), 1));
    for (size_t c = 0; c < tops.size(); ++c) {
        const double right = x.pixel(columns.from + width * static_cast<double>(c + 1));
        if (c > 0 && tops[c] == tops[c - 1] && bottoms[c] == bottoms[c - 1]) {
            shape.upper.back().setX(right);
            shape.lower.back().setX(right);
            continue;
        }
        const double left = x.pixel(columns.from + width * static_cast<double>(c));
        const double top = y.pixel(static_cast<double>(tops[c])), bottom = y.pixel(static_cast<double>(bottoms[c]));
        shape.upper << QPointF(left, top) << QPointF(right, top);
        shape.lower << QPointF(left, bottom) << QPointF(right, bottom);
    }
    return shape;
}

void paint_band(QCPPainter& painter, const BandShape& shape, const QBrush& brush, const QColor& background,
                double floor) {
    const QPolygonF outline = shape.upper + QPolygonF(QList<QPointF>(shape.lower.rbegin(), shape.lower.rend()));
    painter.setPen(Qt::NoPen);
    painter.setBrush(brush);
    painter.drawPolygon(outline);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(background, 1));
    paint_separators(painter, shape, floor);
}

void paint_unknown_band(QCPPainter& painter, const BandShape& shape, const QColor& color, const QColor& background,
                        double floor) {
    paint_band(painter, shape, mixed(color, background, light_of_unknown), background, floor);
    paint_band(painter, shape, QBrush(color, Qt::BDiagPattern), background, floor);
}

}  // namespace tidemark::gui
