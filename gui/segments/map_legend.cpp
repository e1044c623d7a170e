// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/segments/map_legend.h"

#include <QPainter>
#include <cmath>

#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "gui/segments/segment_painter.h"
#include "storage/base/saturated.h"

namespace tidemark::gui {

namespace {
constexpr int swatch_size = 12;
constexpr int longest_name = 240;
}  // namespace

MapLegend::MapLegend(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Legend of the segment map"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void MapLegend::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
    }
    session_ = session;
    if (session_) {
        connect(session_, &Session::grouping_changed, this, qOverload<>(&QWidget::update));
        connect(session_, &Session::grown, this, qOverload<>(&QWidget::update));
    }
    update();
}

void MapLegend::set_colors(MapColors by) {
    by_ = by;
    update();
}

void MapLegend::set_scale(double bytes_per_pixel) {
    bytes_per_pixel_ = bytes_per_pixel;
    update();
}

QSize MapLegend::sizeHint() const { return {300, fontMetrics().height() + 8}; }

std::vector<MapLegend::Entry> MapLegend::entries(const Theme& theme) const {
    std::vector<Entry> list;
    const QColor base = by_ == MapColors::state ? theme.allocated_line : theme.faint_text;
    if (by_ == MapColors::state) {
        list.push_back({theme.allocated_line, tr("allocated")});
    }
    if (!session_ || session_->trace().event_source != EventSource::driver) {
        list.push_back({striped_brush(base, theme.pending), tr("pending free")});
        list.push_back({theme.rounding, tr("allocator rounding")});
    }
    list.push_back({theme.cached, tr("free")});
    if (session_ && session_->has_device() && session_->device().truncated) {
        list.push_back({hatched_brush(theme.plot_background, theme.faint_text), tr("not recorded")});
    }
    if (by_ == MapColors::stream && session_) {
        for (uint32_t i = 0; i < session_->trace().streams.size(); ++i) {
            list.push_back({id_color(theme, i), stream_text(session_->trace(), i)});
        }
    }
    if (by_ == MapColors::group && session_ && session_->has_device()) {
        const auto groups = session_->shared_groups();
        for (int i = 0; i < groups->count(); ++i) {
            list.push_back(
                {color_of_group(theme, *groups, i), to_qstring(groups->grouping.names[static_cast<size_t>(i)])});
        }
    }
    if (by_ == MapColors::category) {
        for (int c = 1; c <= category_count; ++c) {  // "unknown" last
            const auto category = static_cast<Category>(c % category_count);
            list.push_back({category_color(theme, category), category_text(category)});
        }
    }
    return list;
}

int MapLegend::paint_scale(QPainter& painter, const QRect& area, const Theme& theme, double bytes_per_pixel) const {
    if (bytes_per_pixel <= 0) {
        return area.right();
    }
    const double bytes = std::exp2(std::floor(std::log2(bytes_per_pixel * 110)));
    const int width = static_cast<int>(bytes / bytes_per_pixel);
    const QString name = bytes_text(saturated<uint64_t>(std::max(bytes, 1.0)));
    const int text_width = painter.fontMetrics().horizontalAdvance(name);
    const int left = area.right() - width - text_width - 8;
    const int y = area.center().y();
    painter.setPen(theme.faint_text);
    painter.drawLine(left, y, left + width, y);
    painter.drawLine(left, y - 3, left, y + 3);
    painter.drawLine(left + width, y - 3, left + width, y + 3);
    painter.drawText(QRect(left + width + 6, area.top(), text_width + 4, area.height()), Qt::AlignVCenter, name);
    return left - 16;
}

int MapLegend::paint_ramp(QPainter& painter, QRect area, const Theme& theme) const {
    const QString low = by_ == MapColors::age ? tr("new") : bytes_text(smallest_on_scale);
    const QString high = by_ == MapColors::age ? tr("old") : bytes_text(largest_on_scale);
    painter.setPen(theme.text);
    QRect used;
    painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft, low, &used);
    const QRect ramp(used.right() + 6, area.center().y() - swatch_size / 2, 120, swatch_size);
    for (int x = 0; x < ramp.width(); ++x) {
        painter.fillRect(ramp.left() + x, ramp.top(), 1, swatch_size, scale_color(theme, x / (ramp.width() - 1.0)));
    }
    area.setLeft(ramp.right() + 6);
    painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft, high, &used);
    return used.right() + 16;
}

void MapLegend::paint_into(QPainter& painter, const QRect& area, double bytes_per_pixel) const {
    if (!session_ || !session_->has_device()) {
        return;
    }
    const Theme theme = Theme::current();
    painter.setFont(font());
    const int right = paint_scale(painter, area.adjusted(10, 0, -10, 0), theme, bytes_per_pixel);
    int x = area.left() + 10;
    if (by_ == MapColors::age || by_ == MapColors::size) {
        x = paint_ramp(painter, QRect(x, area.top(), right - x, area.height()), theme);
    }
    for (const Entry& entry : entries(theme)) {
        const QString name = elided_group_name(painter.fontMetrics(), entry.name, longest_name);
        const int width = swatch_size + 5 + painter.fontMetrics().horizontalAdvance(name);
        if (x + width > right) {
            break;
        }
        const QRect box(x, area.center().y() - swatch_size / 2, swatch_size, swatch_size);
        painter.setPen(theme.faint_text);
        painter.setBrush(entry.brush);
        painter.drawRect(box);
        painter.setPen(theme.text);
        painter.drawText(QRect(x + swatch_size + 5, area.top(), width, area.height()), Qt::AlignVCenter, name);
        x += width + 14;
    }
}

void MapLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().plot_background);
    paint_into(painter, rect(), bytes_per_pixel_);
}

}  // namespace tidemark::gui
