// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What the timeline shows on its picture and above it: annotations, ends of steps, marks, out-of-memory events, the
// peak.
#include <algorithm>
#include <cmath>

#include "gui/model/text.h"
#include "gui/timeline/timeline_plot.h"
#include "storage/allocator/rules.h"

namespace tidemark::gui {

namespace {

constexpr QPointF above_mark(0, -4);  ///< from the peak

QString shown_text(const QFontMetrics& metrics, QRect area, const QString& text) {
    return metrics.elidedText(text, Qt::ElideRight, area.width() / 2);
}

/// Returns the place of a label beside and above its anchor.
QRectF label_box(const QFontMetrics& metrics, QRect area, QPointF anchor, const QString& text) {
    QRectF box(0, 0, metrics.horizontalAdvance(shown_text(metrics, area, text)) + 8, metrics.height() + 2);
    box.moveBottomLeft(anchor + QPointF(6, -2));
    if (box.right() > area.right()) {
        box.moveRight(anchor.x() - 6);
    }
    const double highest = area.top() + key_row_height(metrics);
    box.moveTop(std::clamp(box.top(), highest, std::max(area.bottom() - box.height(), highest)));
    return box;
}

/// Paints a label on a background, so that it is readable over any picture.
void paint_label(QCPPainter& painter, const Theme& theme, QRect area, const QRectF& box, const QString& text,
                 QColor color) {
    const QFontMetrics metrics(painter.font());
    QColor back = theme.plot_background;
    back.setAlpha(215);
    painter.fillRect(box, back);
    painter.setPen(color);
    painter.drawText(box, Qt::AlignCenter, shown_text(metrics, area, text));
}

QString peak_text(const Session& session) {
    return TimelinePlot::tr("peak %1 allocated")
        .arg(bytes_text(session.analysis().curves().peak(Series::allocated).max));
}

QString oom_text(const Trace& trace, const OtherEvent& oom) {
    const QString requested = bytes_text(static_cast<int64_t>(oom.size));
    return segment_size(AllocatorSettings::from_text(trace.settings), oom.size) <= oom.address
               ? TimelinePlot::tr("out of memory: %1 refused by the process's own limit").arg(requested)
               : TimelinePlot::tr("out of memory: %1 requested, %2 free")
                     .arg(requested, bytes_text(static_cast<int64_t>(oom.address)));
}

/// Returns the name as far as there is room; nothing instead of a few letters: "3…" would be read as a number.
QString annotation_text(const QFontMetrics& metrics, const Annotation& annotation, int width) {
    constexpr int fewest_letters = 8;
    const QString name = annotation_name(annotation) + (annotation.closed ? QString() : QStringLiteral(" …"));
    const QString shown = metrics.elidedText(name, Qt::ElideRight, width);
    return shown == name || shown.size() > fewest_letters ? shown : QString();
}

/// Returns the place nearest to the anchor, above or below it, where a label covers none of the others; the anchor if
/// there is none.
QPointF free_anchor(const QFontMetrics& metrics, QRect area, QPointF anchor, const QString& text,
                    const std::vector<QRectF>& others) {
    for (int distance = 0; distance < area.height(); distance += 2) {
        for (const int at : {distance, -distance}) {
            const QPointF candidate = anchor + QPointF(0, at);
            const QRectF box = label_box(metrics, area, candidate, text);
            if (std::none_of(others.begin(), others.end(),
                             [&](const QRectF& other) { return other.intersects(box); })) {
                return candidate;
            }
        }
    }
    return anchor;
}

}  // namespace

void TimelinePlot::paint_annotations(QCPPainter& painter) const {
    int top = area().top() - 4 - static_cast<int>(annotations_.rows.size()) * annotation_row_height;
    for (const auto& row : annotations_.rows) {
        paint_annotation_row(painter, row, QRect(area().left(), top, area().width(), annotation_row_height - 2));
        top += annotation_row_height;
    }
}

void TimelinePlot::paint_annotation_row(QCPPainter& painter, const std::vector<const Annotation*>& row,
                                        QRect strip) const {
    painter.save();
    painter.setClipRect(strip);
    const TimeView& view = session()->time_view();
    const AxisMap x = x_map();
    const int64_t from = view.time_at(view.from()), to = view.time_at(view.to());
    auto it = std::partition_point(row.begin(), row.end(), [from](const Annotation* a) { return a->end < from; });
    const QFontMetrics metrics(painter.font());
    QColor fill = theme().faint_text;
    while (it != row.end() && (*it)->start <= to) {
        const Annotation& a = **it;
        const double left = std::max(x.pixel(view.position_of_time(a.start)), strip.left() - 1.0);
        const double right = std::min(x.pixel(view.position_of_time(a.end)), strip.right() + 2.0);
        const bool odd = (it - row.begin()) % 2;
        fill.setAlpha(odd ? 62 : 96);
        if (right - left < 2) {
            // Too many to distinguish: one pixel represents all that end in it.
            painter.fillRect(QRectF(std::floor(left), strip.top(), 2, strip.height()), fill);
            const auto pixel_end = view.time_at(x.value(std::floor(left) + 2));
            const auto next =
                std::partition_point(it, row.end(), [&](const Annotation* b) { return b->end <= pixel_end; });
            it = next == it ? it + 1 : next;
            continue;
        }
        painter.fillRect(QRectF(left, strip.top(), std::max(right - left - 1, 1.0), strip.height()), fill);
        const QString name =
            right - left > 28 ? annotation_text(metrics, a, static_cast<int>(right - left) - 8) : QString();
        if (!name.isEmpty()) {
            painter.setPen(theme().text);
            painter.drawText(QRectF(left + 4, strip.top(), right - left - 8, strip.height()), Qt::AlignVCenter, name);
        }
        ++it;
    }
    painter.restore();
}

/// Paints the ends of steps as lines, unless so many lines would hide the plot. Of a million steps it visits only those
/// that it paints.
void TimelinePlot::paint_steps(QCPPainter& painter) const {
    constexpr double least_distance = 24;
    const TimeView& view = session()->time_view();
    const AxisMap x = x_map();
    QColor color = theme().faint_text;
    color.setAlpha(90);
    painter.setPen(QPen(color, 1, Qt::DotLine));
    const QRect shown = area();
    const auto first_at = [&](double pixel) {
        return std::lower_bound(step_ends_.begin(), step_ends_.end(), view.time_at(x.value(pixel)));
    };
    for (auto end = first_at(shown.left()); end != step_ends_.end();) {
        const double at = std::round(x.pixel(view.position_of_time(*end)));
        if (at > shown.right()) {
            break;
        }
        painter.drawLine(QPointF(at, shown.top()), QPointF(at, shown.bottom()));
        end = std::max(end + 1, first_at(at + least_distance));
    }
}

/// `labels`: where others are, and what labels must not hide.
void TimelinePlot::paint_marks(QCPPainter& painter, const std::vector<QRectF>& labels) const {
    const TimeView& view = session()->time_view();
    const AxisMap x = x_map();
    const int device = session()->device().device;
    double last = -1, label_free_from = -1;
    const QFontMetrics metrics(painter.font());
    for (const Mark& mark : session()->trace().marks) {
        const auto event = mark.events.find(device);
        const double position =
            event != mark.events.end() ? view.position_of(event->second) : view.position_of_time(mark.time);
        const double at = std::round(x.pixel(position));
        if (at < area().left() || at > area().right() || at == last) {
            continue;
        }
        last = at;
        QColor color = theme().faint_text;
        color.setAlpha(150);
        painter.setPen(QPen(color, 1, Qt::DashLine));
        painter.drawLine(QPointF(at, area().top()), QPointF(at, area().bottom()));
        if (at > label_free_from) {
            const QString name = metrics.elidedText(name_text(mark.name), Qt::ElideRight, area().width() / 2);
            const QPointF wanted(at - 4, area().top() + metrics.height() + 4);
            const QPointF anchor = free_anchor(metrics, area(), wanted, name, labels);
            paint_label(painter, theme(), area(), label_box(metrics, area(), anchor, name), name, theme().faint_text);
            label_free_from = at + metrics.horizontalAdvance(name) + 16;
        }
    }
}

/// Labels the last error that is shown; the others often follow each other closely. `labels`: as of marks. Below the
/// key the lines begin under it, so that its names stay readable.
void TimelinePlot::paint_oom_flags(QCPPainter& painter, const std::vector<QRectF>& labels) const {
    constexpr int flag_width = 11, flag_height = 10;
    const AxisMap x = x_map();
    const QRect names = key_area();
    double last = -10;
    const OtherEvent* labeled = nullptr;
    for (const OtherEvent& other : session()->device().others) {
        const double at = std::round(x.pixel(session()->time_view().position_of(other.event + 1)));
        if (other.action != Action::oom || at < area().left() || at > area().right()) {
            continue;
        }
        labeled = &other;
        if (at - last < 2) {
            continue;
        }
        last = at;
        const bool is_below_names = at + flag_width >= names.left() && at - 1 <= names.right();
        const double top = is_below_names ? names.bottom() + 2 : area().top();
        painter.setPen(QPen(theme().oom, 2));
        painter.drawLine(QPointF(at, top), QPointF(at, area().bottom()));
        painter.setBrush(theme().oom);
        painter.setPen(Qt::NoPen);
        painter.drawPolygon(
            QPolygonF({{at, top}, {at + flag_width, top + flag_height / 2.0}, {at, top + flag_height}}));
    }
    if (labeled != nullptr) {
        const QString text = oom_text(session()->trace(), *labeled);
        const QFontMetrics metrics(painter.font());
        const QPointF anchor = free_anchor(metrics, area(), QPointF(last, area().center().y()), text, labels);
        paint_label(painter, theme(), area(), label_box(metrics, area(), anchor, text), text, theme().oom);
    }
}

std::optional<QPointF> TimelinePlot::peak_place() const {
    const int64_t bytes = session()->analysis().curves().peak(Series::allocated).max;
    const double at = x_map().pixel(session()->time_view().position_of(peak_));
    const double y = y_map().pixel(static_cast<double>(bytes));
    const bool is_shown =
        bytes > 0 && at >= area().left() && at <= area().right() && y >= area().top() && y <= area().bottom();
    return is_shown ? std::optional(QPointF(at, y)) : std::nullopt;
}

/// Returns the place of the peak's label: above nvidia-smi's line, which it must not hide. Nothing in a plot too low
/// for both: the header names the peak, too.
std::optional<QRectF> TimelinePlot::peak_label(QPointF peak) const {
    const QFontMetrics metrics(font());
    const QString text = peak_text(*session());
    const QRectF box = label_box(metrics, area(), peak + above_mark, text);
    const AxisMap x = x_map();
    const auto figure = figure_ ? bands_.highest_between(x.value(box.left()), x.value(box.right())) : std::nullopt;
    const double line = figure ? y_map().pixel(static_cast<double>(*figure)) : area().bottom();
    const QRectF above = label_box(metrics, area(), {peak.x(), std::min(peak.y() + above_mark.y(), line)}, text);
    return above.bottom() < line ? std::optional(above) : std::nullopt;
}

void TimelinePlot::paint_peak(QCPPainter& painter) const {
    const auto place = peak_place();
    if (!place) {
        return;
    }
    painter.setPen(QPen(theme().plot_background, 1));
    painter.setBrush(theme().allocated_line);
    painter.drawPolygon(QPolygonF({*place + QPointF(0, -1), *place + QPointF(-5, -9), *place + QPointF(5, -9)}));
    if (const auto box = peak_label(*place)) {
        paint_label(painter, theme(), area(), *box, peak_text(*session()), theme().text);
    }
}

}  // namespace tidemark::gui
