// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/picture_drawing.h"

#include <cmath>

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
    request.memory = selected.memory;
    request.selected_group = session.selected_group();
    request.hovered = session.selection().hovered();
    return request;
}

AxisMap time_map(const TimeView& view, QRect area) {
    return {view.from(), view.to(), static_cast<double>(area.left()), static_cast<double>(area.left() + area.width())};
}

AxisMap byte_map(double low, double high, QRect area) {
    return {low, high, static_cast<double>(area.top() + area.height()), static_cast<double>(area.top())};
}

void draw_picture(QCPPainter& painter, QRect area, const QImage& image, const PictureRequest& painted,
                  const TimeView& view, double low, double high) {
    if (image.isNull() || painted.axis != view.axis()) {
        return;
    }
    // Only the visible part: Qt's integers overflow far outside the area.
    const Part across = visible_part({painted.from, painted.to}, image.width(), {view.from(), view.to()});
    const Part up = visible_part({painted.low, painted.high}, image.height(), {low, high});
    if (across.length == 0 || up.length == 0) {
        return;
    }
    const AxisMap x = time_map(view, area), y = byte_map(low, high, area);
    const QRectF target(QPointF(x.pixel(across.shown.from), y.pixel(up.shown.to)),
                        QPointF(x.pixel(across.shown.to), y.pixel(up.shown.from)));
    const QRectF source(across.first, image.height() - up.first - up.length, across.length, up.length);
    painter.setClipRect(area, Qt::IntersectClip);
    painter.drawImage(target, image, source);
}

}  // namespace tidemark::gui
