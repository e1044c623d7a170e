// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/segments/map_legend.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "gui/segments/texture.h"
#include "storage/base/saturated.h"

namespace tidemark::gui {

namespace {
constexpr int swatch_size = 12, swatch_room = swatch_size + 5;
constexpr int longest_name = 220, shortest_name = 110, name_step = 10;
constexpr int few_lines = 3;
constexpr int margin = 10, gap = 14;
constexpr int longest_scale = 110, ramp_length = 120;

/// Returns the fill of memory of unknown role, as blocks have it.
QBrush unknown_brush(const Theme& theme, const QColor& color) {
    return hatched_brush(mixed(color, theme.plot_background, light_of_unknown), color);
}

}  // namespace

MapLegend::MapLegend(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Legend of the segment map"));
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void MapLegend::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
    }
    session_ = session;
    if (session_) {
        connect(session_, &Session::grouping_changed, this, &MapLegend::entries_changed);
        connect(session_, &Session::grown, this, &MapLegend::entries_changed);
    }
    entries_changed();
}

void MapLegend::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange ||
        event->type() == QEvent::LanguageChange || event->type() == QEvent::PaletteChange) {
        entries_changed();
    }
}

/// Shows the name of an entry in full.
bool MapLegend::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) {
        return QWidget::event(event);
    }
    auto* help = static_cast<QHelpEvent*>(event);
    const auto& all = places(width());
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Placed& each) { return each.line.contains(help->pos()); });
    QToolTip::showText(help->globalPos(), found == all.end() ? QString() : tip_text(found->name), this);
    return true;
}

void MapLegend::entries_changed() {
    places_of_width_.clear();
    updateGeometry();
    update();
}

void MapLegend::set_colors(MapColors by) {
    by_ = by;
    entries_changed();
}

void MapLegend::set_short(bool is_short) {
    if (is_short_ != is_short) {
        is_short_ = is_short;
        entries_changed();
    }
}

void MapLegend::set_scale(double bytes_per_pixel) {
    bytes_per_pixel_ = bytes_per_pixel;
    update();
}

QSize MapLegend::sizeHint() const { return {300, line_height()}; }

int MapLegend::heightForWidth(int width) const { return places(width).back().line.bottom() + 1; }

std::vector<MapLegend::Entry> MapLegend::entries() const {
    const Theme theme = Theme::current();
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
    list.push_back({theme.selection, tr("selected")});
    if (session_ && session_->has_device() && session_->device().truncated) {
        list.push_back({hatched_brush(theme.plot_background, theme.faint_text), tr("not recorded")});
    }
    if (by_ == MapColors::stream && session_) {
        for (uint32_t i = 0; i < session_->trace().streams.size(); ++i) {
            list.push_back({id_color(theme, i), stream_text(session_->trace(), i)});
        }
    }
    if (by_ == MapColors::group && !is_short_ && session_ && session_->has_device()) {
        const auto groups = session_->shared_groups();
        for (int i = 0; i < groups->count(); ++i) {
            const QColor color = color_of_group(theme, *groups, i);
            list.push_back({is_unknown(*groups, i) ? unknown_brush(theme, color) : QBrush(color),
                            to_qstring(groups->grouping.names[static_cast<size_t>(i)])});
        }
    }
    if (by_ == MapColors::category) {
        for (int c = 1; c <= category_count; ++c) {  // "unknown" last
            const auto category = static_cast<Category>(c % category_count);
            const QColor color = category_color(theme, category);
            list.push_back(
                {category == Category::unknown ? unknown_brush(theme, color) : QBrush(color), category_text(category)});
        }
    }
    return list;
}

int MapLegend::ramp_width() const {
    return by_ == MapColors::age || by_ == MapColors::size
               ? ramp_length + 28 + fontMetrics().horizontalAdvance(ramp_end(false) + ramp_end(true))
               : 0;
}

QString MapLegend::ramp_end(bool high) const {
    return by_ == MapColors::age ? (high ? tr("old") : tr("new"))
                                 : bytes_text(high ? largest_on_scale : smallest_on_scale);
}

const std::vector<MapLegend::Placed>& MapLegend::places(int width) const {
    std::vector<Placed>& placed = places_of_width_[width];
    if (placed.empty()) {
        const std::vector<Entry> all = entries();
        int room = longest_name;
        placed = place(all, width, room);
        while (room > shortest_name && placed.back().line.top() >= few_lines * line_height()) {
            placed = place(all, width, room -= name_step);
        }
    }
    return placed;
}

std::vector<MapLegend::Placed> MapLegend::place(const std::vector<Entry>& all, int width, int room) const {
    const QFontMetrics metrics = fontMetrics();
    // The scale is at the right end of the first line.
    int right = width - longest_scale - metrics.horizontalAdvance(QStringLiteral("1,023 MiB")) - 3 * margin;
    QPoint next(margin + ramp_width(), 0);
    std::vector<Placed> placed;
    for (const Entry& entry : all) {
        const QString name = elided_group_name(metrics, entry.name, room);
        const int entry_width = swatch_room + metrics.horizontalAdvance(name);
        if (next.x() + entry_width > right && next.x() > margin) {
            next = QPoint(margin, next.y() + line_height());
            right = width - margin;
        }
        placed.push_back({{entry.brush, name}, QRect(next, QSize(entry_width, line_height())), entry.name});
        next.rx() += entry_width + gap;
    }
    return placed;
}

void MapLegend::paint_scale(QPainter& painter, const QRect& line, const Theme& theme, double bytes_per_pixel) {
    if (bytes_per_pixel <= 0) {
        return;
    }
    const double bytes = std::exp2(std::floor(std::log2(bytes_per_pixel * longest_scale)));
    const int width = static_cast<int>(bytes / bytes_per_pixel);
    const QString name = bytes_text(saturated<uint64_t>(std::max(bytes, 1.0)));
    const int text_width = painter.fontMetrics().horizontalAdvance(name);
    const int left = line.right() - width - text_width - 8;
    const int y = line.center().y();
    painter.setPen(theme.faint_text);
    painter.drawLine(left, y, left + width, y);
    painter.drawLine(left, y - 3, left, y + 3);
    painter.drawLine(left + width, y - 3, left + width, y + 3);
    painter.drawText(QRect(left + width + 6, line.top(), text_width + 4, line.height()), Qt::AlignVCenter, name);
}

void MapLegend::paint_ramp(QPainter& painter, QRect line, const Theme& theme) const {
    painter.setPen(theme.text);
    QRect used;
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, ramp_end(false), &used);
    const QRect ramp(used.right() + 6, line.center().y() - swatch_size / 2, ramp_length, swatch_size);
    for (int x = 0; x < ramp.width(); ++x) {
        painter.fillRect(ramp.left() + x, ramp.top(), 1, swatch_size, scale_color(theme, x / (ramp.width() - 1.0)));
    }
    line.setLeft(ramp.right() + 6);
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft, ramp_end(true));
}

void MapLegend::paint_into(QPainter& painter, const QRect& area, double bytes_per_pixel) const {
    if (!session_ || !session_->has_device()) {
        return;
    }
    const Theme theme = Theme::current();
    painter.setFont(font());
    const QRect first(area.left() + margin, area.top(), area.width() - 2 * margin, line_height());
    paint_scale(painter, first, theme, bytes_per_pixel);
    if (by_ == MapColors::age || by_ == MapColors::size) {
        paint_ramp(painter, first, theme);
    }
    for (const auto& [entry, place, name] : places(area.width())) {
        const QRect line = place.translated(area.topLeft());
        painter.setPen(theme.faint_text);
        painter.setBrush(entry.brush);
        painter.drawRect(line.left(), line.center().y() - swatch_size / 2, swatch_size, swatch_size);
        painter.setPen(theme.text);
        painter.drawText(line.adjusted(swatch_room, 0, gap, 0), Qt::AlignVCenter, entry.name);
    }
}

void MapLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::current().plot_background);
    paint_into(painter, rect(), bytes_per_pixel_);
}

}  // namespace tidemark::gui
