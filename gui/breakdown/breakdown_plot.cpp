// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/breakdown/breakdown_plot.h"

#include <algorithm>

#include "gui/model/component_text.h"
#include "gui/model/text.h"
#include "gui/widgets/picture_drawing.h"
#include "storage/base/saturated.h"

namespace tidemark::gui {

BreakdownPlot::BreakdownPlot(QWidget* parent)
    : TimePlot(parent), worker_(this, paint_breakdown, [this](BreakdownPicture picture) { take(std::move(picture)); }) {
    setObjectName(QStringLiteral("breakdown"));
    hide_grid();
    setAccessibleName(tr("Memory breakdown over time"));
    set_purpose(tr("The table beside it lists the components at the cursor."));
}

void BreakdownPlot::session_changed() {
    worker_.abandon();
    picture_ = {};
    if (has_data()) {
        set_whole_bytes(all_bytes());
    }
}

void BreakdownPlot::session_grown() { grow_whole_bytes(std::max(all_bytes(), whole_bytes())); }

/// Returns an estimate; take() raises it if a picture shows more.
double BreakdownPlot::all_bytes() const {
    int64_t most = session()->analysis().curves().peak(Series::reserved).max;
    for (const Sample& sample : session()->trace().samples) {
        if (sample.device == session()->device().device) {
            most = std::max(most, sample.used_bytes);
        }
    }
    return static_cast<double>(most) * 1.15;
}

void BreakdownPlot::view_changed() {
    const bool seen = isVisible() || synchronous();
    if (!has_data() || !seen || area().width() < 2 || area().height() < 2) {
        return;
    }
    PictureRequest request = picture_request(*session(), theme(), area(), pixel_ratio(), low(), high());
    if (synchronous()) {
        take(paint_breakdown(request));
    } else {
        worker_.request(std::move(request));
    }
}

void BreakdownPlot::take(BreakdownPicture picture) {
    const bool same_components = picture.components == picture_.components && picture.most == picture_.most;
    picture_ = std::move(picture);
    if (static_cast<double>(picture_.highest) > whole_bytes()) {
        grow_whole_bytes(static_cast<double>(picture_.highest) * 1.15);
        if (!synchronous()) {
            view_changed();
        }
    }
    if (!same_components) {
        emit components_changed();
    }
    if (!synchronous()) {
        repaint_picture();
    }
}

void BreakdownPlot::showEvent(QShowEvent* event) {
    TimePlot::showEvent(event);
    view_changed();
}

void BreakdownPlot::paint_picture(QCPPainter& painter) {
    painter.save();
    draw_picture(painter, area(), picture_.image, picture_.request, session()->time_view(), low(), high());
    painter.restore();
    paint_line_name(painter);
}

QRect BreakdownPlot::key_area() const {
    const bool known = std::any_of(picture_.rows.begin(), picture_.rows.end(),
                                   [](const BreakdownRow& row) { return row.device_used.has_value(); });
    const QFontMetrics metrics(font());
    const int right = area().right() - 8, width = metrics.horizontalAdvance(tr("nvidia-smi"));
    return known ? QRect(right - width - 32, area().top() + 2, width + 36, metrics.height() + 2) : QRect();
}

void BreakdownPlot::paint_line_name(QCPPainter& painter) const {
    const QRect box = key_area();
    if (box.isEmpty()) {
        return;
    }
    QColor back = theme().plot_background;
    back.setAlpha(215);
    painter.fillRect(box, back);
    painter.setPen(theme().text);
    painter.drawText(box.adjusted(0, 0, -4, 0), Qt::AlignRight | Qt::AlignVCenter, tr("nvidia-smi"));
    painter.setPen(QPen(theme().allocated_line, 2));
    const double y = box.center().y();
    painter.drawLine(QPointF(box.left() + 4, y), QPointF(box.left() + 22, y));
}

QString BreakdownPlot::describe(QPoint point) {
    if (!area().contains(point) || picture_.rows.empty()) {
        return {};
    }
    const PictureRequest& r = picture_.request;
    const double part = (position_at(point.x()) - r.from) / (r.to - r.from);
    const auto column = saturated<int64_t>(part * static_cast<double>(picture_.rows.size()));
    if (column < 0 || column >= static_cast<int64_t>(picture_.rows.size()) || position_at(point.x()) > r.known_to) {
        return {};
    }
    const BreakdownRow& row = picture_.rows[static_cast<size_t>(column)];
    QString html = QStringLiteral("<b>%1</b><table cellspacing=0>").arg(time_point_text(row.time));
    const auto line = [&](const QString& mark, const QString& name, int64_t bytes) {
        html += QStringLiteral("<tr><td>%1%2&nbsp;&nbsp;</td><td align=right>%3</td></tr>")
                    .arg(mark, name.toHtmlEscaped(), bytes_text(static_cast<uint64_t>(bytes)));
    };
    if (row.device_used) {
        line({}, tr("nvidia-smi"), *row.device_used);
    }
    for (auto component = row.components.rbegin(); component != row.components.rend(); ++component) {
        const QColor color = picture_.color({component->kind, component->name, component->pid});
        line(swatch(color), component_name(*component), component->bytes);
    }
    return html + QStringLiteral("</table>");
}

}  // namespace tidemark::gui
