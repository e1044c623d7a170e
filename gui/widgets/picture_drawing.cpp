// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/picture_drawing.h"

#include <cmath>

#include "gui/widgets/coordinates.h"

namespace tidemark::gui {

PictureRequest picture_request(const Session& session, const Theme& theme, QRect area, double ratio, double low,
                               double high) {
    PictureRequest request;
    const SelectionState& selected = session.selection().state();
    const TimeView& view = session.time_view();
    request.analysis = session.shared_analysis();
    request.groups = session.shared_groups();
    request.column_cache = session.column_cache();
    request.breakdown = session.shared_breakdown();
    request.axis = view.axis();
    request.from = view.from();
    request.to = view.to();
    request.known_to = session.is_live() ? view.known_to() : view.to();
    request.low = low;
    request.high = high;
    request.pixels = QSize(static_cast<int>(std::lround(area.width() * ratio)),
                           static_cast<int>(std::lround(area.height() * ratio)));
    request.line_width = std::max(1, static_cast<int>(std::lround(ratio)));
    request.theme = theme;
    request.selected = selected.allocation;
    request.selected_stack = selected.stack.value_or(0);
    request.selected_group = session.selected_group();
    request.hovered = session.selection().hovered();
    return request;
}

void draw_picture(QCPPainter& painter, QRect area, const QImage& image, const PictureRequest& painted,
                  const TimeView& view, double low, double high) {
    if (image.isNull() || painted.axis != view.axis()) {
        return;
    }
    painter.setClipRect(area, Qt::IntersectClip);
    const AxisMap x{view.from(), view.to(), static_cast<double>(area.left()),
                    static_cast<double>(area.left() + area.width())};
    const AxisMap y{low, high, static_cast<double>(area.top() + area.height()), static_cast<double>(area.top())};
    const QRectF target(QPointF(x.pixel(painted.from), y.pixel(painted.high)),
                        QPointF(x.pixel(painted.to), y.pixel(painted.low)));
    // Far beyond the area the painter's integers would overflow, so the image is cut to the visible part.
    const QRectF visible = target.intersected(QRectF(area));
    if (visible.isEmpty()) {
        return;
    }
    const double sx = image.width() / target.width(), sy = image.height() / target.height();
    const QRectF source((visible.left() - target.left()) * sx, (visible.top() - target.top()) * sy,
                        visible.width() * sx, visible.height() * sy);
    painter.drawImage(visible, image, source);
}

}  // namespace tidemark::gui
