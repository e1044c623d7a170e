// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/whatif/reserved_plot.h"

#include <QPainterPath>
#include <algorithm>
#include <optional>

#include "gui/model/text.h"
#include "storage/base/units.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

namespace {

constexpr double headroom = 1.15;

/// Returns the range of a curve over states; nothing where the replay had stopped. Within one of its columns only the
/// highest value is known: a lowest one would be drawn again at each pixel that shows the column, as a filled block.
std::optional<std::pair<int64_t, int64_t>> range_of(const ModelRun& run, EventNumber from, EventNumber to) {
    const auto& columns = run.reserved.columns();
    const auto first = static_cast<size_t>(from / run.reserved.states_per_column());
    const auto last = std::min(static_cast<size_t>(to / run.reserved.states_per_column()) + 1, columns.size());
    if (from > run.figures.known_to || first >= last) {
        return std::nullopt;
    }
    if (first + 1 == last) {
        return std::pair(columns[first].highest, columns[first].highest);
    }
    std::pair range{INT64_MAX, INT64_MIN};
    for (size_t i = first; i < last; ++i) {
        range.first = std::min(range.first, columns[i].lowest);
        range.second = std::max(range.second, columns[i].highest);
    }
    return range;
}

}  // namespace

ReservedPlot::ReservedPlot(QWidget* parent) : TimePlot(parent) {
    setObjectName(QStringLiteral("reserved"));
    setAccessibleName(tr("Reserved memory over time, recorded and with other settings"));
    set_purpose(tr("The dashed line is the recorded reserved memory, the solid line that of the model."));
    set_top_margin(fontMetrics().height() + 8);
}

void ReservedPlot::show_replay(std::shared_ptr<const ShownReplay> replay) {
    replay_ = std::move(replay);
    if (has_data()) {
        int64_t peak = session()->analysis().curves().peak(Series::reserved).max;
        if (replay_ && replay_->recorded) {
            const int64_t asked = replay_->asked ? replay_->asked->figures.peak_reserved : 0;
            peak = std::max(replay_->recorded->recorded.figures.peak_reserved, asked);
        }
        set_whole_bytes(static_cast<double>(peak) * headroom);
    }
    repaint_picture();
}

EventNumber ReservedPlot::state_at(double position) const {
    return last_state(replay_->analysis->device(), session()->time_view().point_at(position));
}

void ReservedPlot::paint_picture(QCPPainter& painter) {
    if (!replay_ || !replay_->recorded) {
        return;
    }
    const TimeView& view = session()->time_view();
    const Curves& curves = replay_->analysis->curves();
    const AxisMap y = y_map();
    const int width = area().width();
    const double bottom = area().bottom() + 1;
    QColor allocated = theme().allocated_line, gained = theme().reserved_line;
    allocated.setAlpha(70);
    gained.setAlpha(45);
    QPainterPath recorded, asked;
    const auto extend = [&](QPainterPath& path, double x, double low, double high, bool begins) {
        begins ? path.moveTo(x, low) : path.lineTo(x, low);
        path.lineTo(x, high);
    };
    bool asked_begins = true;
    painter.save();
    painter.setClipRect(area(), Qt::IntersectClip);
    EventNumber from = state_at(view.from());
    for (int i = 0; i < width; ++i) {
        const EventNumber to = state_at(view.from() + view.span() * (i + 1) / width);
        const double x = area().left() + i;
        const double used = y.pixel(static_cast<double>(curves.extremes(Series::allocated, from, to).max));
        painter.fillRect(QRectF(x, used, 1, std::max(bottom - used, 0.0)), allocated);
        const Extremes reserved = curves.extremes(Series::reserved, from, to);
        extend(recorded, x, y.pixel(static_cast<double>(reserved.min)), y.pixel(static_cast<double>(reserved.max)),
               i == 0);
        if (const auto range = replay_->asked ? range_of(*replay_->asked, from, to) : std::nullopt) {
            const double high = y.pixel(static_cast<double>(range->second));
            painter.fillRect(QRectF(x, high, 1, std::max(used - high, 0.0)), gained);
            extend(asked, x, y.pixel(static_cast<double>(range->first)), high, asked_begins);
            asked_begins = false;
        }
        from = to;
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().reserved_line, 2));
    painter.drawPath(asked);
    painter.setPen(QPen(theme().text, 1, Qt::DashLine));
    painter.drawPath(recorded);
    painter.restore();
    paint_key(painter);
}

namespace {

constexpr int sample_width = 22, name_gap = 6, entry_gap = 18;  // pixels, of the key

int width_of_key(const QFontMetrics& metrics, const QStringList& names) {
    int width = 0;
    for (const QString& name : names) {
        width += sample_width + name_gap + metrics.horizontalAdvance(name) + entry_gap;
    }
    return width - entry_gap;
}

}  // namespace

/// Returns the names in the key, shorter ones in a narrow plot.
QStringList ReservedPlot::key() const {
    if (!replay_ || !replay_->recorded) {
        return {};
    }
    QStringList names{tr("reserved, recorded"), tr("reserved, in the model"), tr("allocated, recorded")};
    QStringList short_names{tr("recorded"), tr("model"), tr("allocated")};
    if (!replay_->asked) {
        names.removeAt(1);
        short_names.removeAt(1);
    }
    return width_of_key(fontMetrics(), names) <= area().width() ? names : short_names;
}

void ReservedPlot::paint_key(QCPPainter& painter) {
    const QFontMetrics metrics(painter.font());
    const double middle = area().top() - metrics.height() / 2.0 - 3;
    double x = area().left();
    const auto entry = [&](const QPen& pen, const QString& name) {
        const int width = metrics.horizontalAdvance(name);
        painter.setPen(pen);
        painter.drawLine(QPointF(x, middle), QPointF(x + sample_width, middle));
        painter.setPen(theme().text);
        painter.drawText(
            QRectF(x + sample_width + name_gap, middle - metrics.height() / 2.0, width + 2, metrics.height()),
            Qt::AlignVCenter | Qt::AlignLeft | Qt::TextDontClip, name);
        x += sample_width + name_gap + width + entry_gap;
    };
    QColor allocated = theme().allocated_line;
    allocated.setAlpha(110);
    const QStringList names = key();
    entry(QPen(theme().text, 1, Qt::DashLine), names.first());
    if (replay_->asked) {
        entry(QPen(theme().reserved_line, 2), names[1]);
    }
    entry(QPen(allocated, 8, Qt::SolidLine, Qt::FlatCap), names.last());
}

void ReservedPlot::paint_overlay(QCPPainter& painter) {
    if (replay_ && replay_->asked && replay_->asked->figures.failed) {
        const EventNumber event = replay_->asked->figures.failed->event;
        paint_vertical(painter, session()->time_view().position_of(event), QPen(theme().oom, 2));
    }
}

QString ReservedPlot::describe(QPoint point) {
    if (!replay_ || !replay_->recorded) {
        return {};
    }
    const double position = position_at(point.x());
    const EventNumber state = state_at(position);
    const Curves& curves = replay_->analysis->curves();
    QStringList lines{QStringLiteral("<b>%1</b>")
                          .arg(QString::fromStdString(format_time_point(session()->time_view().time_at(position))))};
    lines << tr("Reserved, recorded: %1").arg(bytes_text(curves.value(Series::reserved, state)));
    if (replay_->asked) {
        const auto range = range_of(*replay_->asked, state, state);
        lines << (range ? tr("Reserved, in the model: %1").arg(bytes_text(range->second))
                        : tr("The model ran out of memory before."));
    }
    lines << tr("Allocated, recorded: %1").arg(bytes_text(curves.value(Series::allocated, state)));
    return lines.join(QStringLiteral("<br>"));
}

}  // namespace tidemark::gui
