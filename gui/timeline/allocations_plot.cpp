// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/timeline/allocations_plot.h"

#include <algorithm>
#include <cmath>

#include "gui/model/text.h"
#include "storage/base/saturated.h"
#include "storage/base/units.h"

namespace tidemark::gui {

AllocationsPlot::AllocationsPlot(QWidget* parent)
    : TimePlot(parent), worker_(this, paint_allocations, [this](AllocationsPicture picture) {
          picture_ = std::move(picture);
          repaint_picture();
      }) {
    setObjectName(QStringLiteral("allocations"));
    hide_grid();
    setAccessibleName(tr("Allocations over time"));
    set_purpose(tr("Each allocation is a band over its lifetime. The Table pane lists the same allocations."));
}

void AllocationsPlot::set_color_by(ColorBy by) {
    color_by_ = by;
    view_changed();
    repaint_picture();
}

void AllocationsPlot::session_changed() {
    worker_.abandon();
    picture_ = {};
    if (has_data()) {
        set_whole_bytes(all_bytes());
    }
}

void AllocationsPlot::session_grown() { grow_whole_bytes(all_bytes()); }

double AllocationsPlot::all_bytes() const {
    return static_cast<double>(session()->analysis().curves().peak(Series::active).max) * 1.04;
}

void AllocationsPlot::view_changed() {
    if (!has_data() || area().width() < 2 || area().height() < 2) {
        return;
    }
    PictureRequest request = picture_request(*session(), theme(), area(), pixel_ratio(), low(), high());
    request.color_by = color_by_;
    if (synchronous() || picture_.image.isNull()) {
        picture_ = paint_allocations(request);
    } else {
        worker_.request(std::move(request));
    }
}

QString AllocationsPlot::empty_reason() const {
    return session()->device().allocations.size() == 0 ? tr("No allocation was recorded on this device.") : QString();
}

void AllocationsPlot::paint_picture(QCPPainter& painter) {
    draw_picture(painter, area(), picture_.image, picture_.request, session()->time_view(), low(), high());
}

/// Outlines the selected allocation at least two pixels high, however thin its band is.
void AllocationsPlot::paint_overlay(QCPPainter& painter) {
    const PictureRequest& r = picture_.request;
    const AllocationIndex selected = session()->selection().state().allocation;
    if (selected == no_allocation || r.selected != selected || !picture_.columns ||
        r.axis != session()->time_view().axis()) {
        return;
    }
    const AxisMap x = x_map(), y = y_map();
    const auto x_of = [&](size_t column) {
        const double part = static_cast<double>(column) / static_cast<double>(picture_.columns->size());
        return x.pixel(r.from + part * (r.to - r.from));
    };
    QPolygonF upper, lower;
    for (size_t c = 0; c < picture_.selected_band.size(); ++c) {
        const auto [bottom, top] = picture_.selected_band[c];
        if (bottom < 0) {
            continue;
        }
        double high_y = y.pixel(static_cast<double>(top)), low_y = y.pixel(static_cast<double>(bottom));
        if (low_y - high_y < 2) {
            high_y = low_y - 2;
        }
        upper << QPointF(x_of(c), high_y) << QPointF(x_of(c + 1), high_y);
        lower << QPointF(x_of(c), low_y) << QPointF(x_of(c + 1), low_y);
    }
    if (upper.isEmpty()) {
        return;
    }
    std::reverse(lower.begin(), lower.end());
    painter.save();
    painter.setClipRect(area(), Qt::IntersectClip);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().plot_background, 4));
    painter.drawPolygon(upper + lower);
    painter.setPen(QPen(theme().selection, 2));
    painter.drawPolygon(upper + lower);
    painter.restore();
}

bool AllocationsPlot::focus_selected() {
    const AllocationIndex a = session() ? session()->selection().state().allocation : no_allocation;
    if (a == no_allocation) {
        return false;
    }
    const Allocations& all = session()->device().allocations;
    TimeView& view = session()->time_view();
    const EventNumber created = std::max<EventNumber>(all.alloc_event[a], 0);
    const EventNumber destroyed = std::min(all.free_completed[a], session()->device().event_count());
    const double from = view.position_of(created), to = view.position_of(destroyed);
    const double margin = std::max((to - from) * 0.15, view.smallest_span() / 2);
    view.show(from - margin, to + margin);
    std::vector<Band> bands;
    TimePoint time_point = session()->selection().state().time_point;
    if (!is_active_at(all, a, time_point)) {
        time_point = std::clamp<EventNumber>(time_point.event, created + 1, std::max(created + 1, destroyed));
    }
    ActiveWalk live(session()->device(), session()->analysis().live());
    bands_at(session()->device(), live, time_point, {}, bands);
    const auto band = std::find_if(bands.begin(), bands.end(), [a](const Band& b) { return b.active.allocation == a; });
    if (band != bands.end()) {
        const double size = static_cast<double>(all.block_size[a]);
        const double shown = std::max(size * 12, 64.0 * 1024);
        const double middle = static_cast<double>(band->bottom) + size / 2;
        show_bytes(middle - shown / 2, middle + shown / 2);
    }
    return true;
}

AllocationIndex AllocationsPlot::allocation_at(QPoint point) const {
    const auto column = has_data() ? column_at(picture_, position_at(point.x())) : std::nullopt;
    if (!column || !area().contains(point)) {
        return no_allocation;
    }
    // The center of the picture's pixel row, as painted.
    const double row_bytes =
        (picture_.request.high - picture_.request.low) / std::max(picture_.request.pixels.height(), 1);
    const double bytes = y_map().value(point.y() + 0.5);
    const double row = std::floor((bytes - picture_.request.low) / row_bytes);
    const auto center = saturated<int64_t>(picture_.request.low + (row + 0.5) * row_bytes);
    if (center < 0 || center == INT64_MAX) {
        return no_allocation;
    }
    std::vector<Band> bands;
    ActiveWalk live(session()->device(), session()->analysis().live());
    bands_at(session()->device(), live, (*picture_.columns)[*column].time_point, {center, center + 1}, bands);
    return bands.empty() ? no_allocation : bands.front().active.allocation;
}

QString AllocationsPlot::lifetime_text(AllocationIndex a) const {
    const DeviceHistory& device = session()->device();
    const int64_t created = device.alloc_time(a);
    const QString from = device.allocations.alloc_event[a] == before_history
                             ? tr("before the history")
                             : QString::fromStdString(format_time_point(created));
    const std::optional<int64_t> freed = device.free_time(a);
    if (!freed) {
        return tr("%1 to the end, never freed").arg(from);
    }
    return tr("%1, lifetime %2").arg(from, QString::fromStdString(format_duration(*freed - created)));
}

QString AllocationsPlot::describe(QPoint point) {
    const AllocationIndex a = allocation_at(point);
    const auto column = column_at(picture_, position_at(point.x()));
    if (!column || !area().contains(point)) {
        return {};
    }
    const QString time_point = describe_column(point, (*picture_.columns)[*column]);
    if (a == no_allocation) {
        return tr("No allocation here.") + QStringLiteral("<br>") + time_point;
    }
    const DeviceHistory& device = session()->device();
    const Allocations& all = device.allocations;
    const auto bytes = [](uint64_t n) { return QString::fromStdString(format_bytes(static_cast<int64_t>(n))); };
    const QString size = all.requested[a] == all.block_size[a]
                             ? bytes(all.block_size[a])
                             : tr("%1, requested %2").arg(bytes(all.block_size[a]), bytes(all.requested[a]));
    const QString line = to_qstring(group_name(session()->trace(), device, a, GroupBy::line));
    const QColor color =
        allocation_color(picture_.request, {a, state_at(all, a, (*picture_.columns)[*column].time_point)});
    return QStringLiteral("%1<b>%2</b><br>%3<br>%4<hr>%5")
        .arg(swatch(color), size, line.toHtmlEscaped(), lifetime_text(a), time_point);
}

void AllocationsPlot::clicked(QPoint point) {
    const AllocationIndex a = allocation_at(point);
    const auto column = column_at(picture_, position_at(point.x()));
    if (column) {
        session()->selection().set_time_point(point_under(point, (*picture_.columns)[*column]));
    }
    if (a != no_allocation) {
        session()->selection().select_allocation(a);
    }
}

void AllocationsPlot::double_clicked(QPoint point) {
    clicked(point);
    focus_selected();
}

}  // namespace tidemark::gui
