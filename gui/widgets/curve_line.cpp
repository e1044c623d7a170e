// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/curve_line.h"

#include <algorithm>

namespace tidemark::gui {

void paint_curve(QPainter& painter, std::span<const FindingCurve::Column> columns, double left, double bottom,
                 const AxisMap& y, const QColor& color, bool dark, double line) {
    QColor fill = color;
    fill.setAlpha(dark ? 90 : 70);
    double before = y.pixel(static_cast<double>(columns.empty() ? 0 : columns.front().lowest));
    for (size_t i = 0; i < columns.size(); ++i) {
        const double x = left + static_cast<double>(i);
        const double high = y.pixel(static_cast<double>(columns[i].highest));
        const double low = y.pixel(static_cast<double>(columns[i].lowest));
        painter.fillRect(QRectF(x, low, 1, std::max(bottom - low, 0.0)), fill);
        // The line joins the columns without a gap.
        const double from = std::min(high, before), to = std::max(low, before);
        painter.fillRect(QRectF(x, from - line / 2, 1, to - from + line), color);
        before = (high + low) / 2;
    }
}

}  // namespace tidemark::gui
