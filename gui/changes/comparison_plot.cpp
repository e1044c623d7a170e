// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/changes/comparison_plot.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/model/text.h"
#include "gui/widgets/picture_drawing.h"
#include "storage/base/saturated.h"
#include "storage/base/ticks.h"
#include "storage/base/units.h"

namespace tidemark::gui {

namespace {

constexpr int left_margin = 78, right_margin = 14;
constexpr double headroom = 1.3;  // for the names of the peaks
constexpr double part_of_curves = 0.66;
constexpr double thickness_of_a = 3.5, thickness_of_b = 1.5;  // A is seen below B where they are equal

QColor color_of_a(const Theme& theme) { return theme.active_line; }
QColor color_of_b(const Theme& theme) { return theme.text; }

std::vector<double> ticks_between(double from, double to, double step) {
    constexpr int most = 200;  // a file may contain any numbers
    std::vector<double> ticks;
    const double first = std::ceil(from / step) * step;
    for (int i = 0; i < most && first + i * step <= to; ++i) {
        ticks.push_back(first + i * step);
    }
    return ticks;
}

/// Returns the color of what B has more, or less, than A.
QColor difference_color(const Theme& theme, bool is_more, int alpha) {
    QColor color = is_more ? theme.rounding : theme.requested_line;
    color.setAlpha(alpha);
    return color;
}

/// Returns the place of a peak's name: at the right or left of the peak, else above or below the other name, where both
/// are apart.
QRectF free_place(const QRectF& right, double peak, const QRectF& area, const QRectF& other) {
    constexpr double gap = 3;
    QRectF left = right, above = right, below = right;
    left.moveRight(peak - 6);
    above.moveBottom(other.top() - gap);
    below.moveTop(other.bottom() + gap);
    for (QRectF* vertical : {&above, &below}) {
        vertical->moveLeft(std::min(vertical->left(), area.right() - vertical->width()));
    }
    const QRectF around = other.isNull() ? other : other.adjusted(-gap, -gap / 2, gap, gap / 2);
    for (const QRectF& place : {right, left, above, below}) {
        if (area.contains(place) && !place.intersects(around)) {
            return place;
        }
    }
    return right.right() > area.right() ? left : right;
}

}  // namespace

ComparisonPlot::ComparisonPlot(QWidget* parent)
    : QWidget(parent), task_(this, OnNewerRequest::finish_running, [this](auto columns) {
          columns_ = std::move(columns);
          update();
      }) {
    setObjectName(QStringLiteral("comparison"));
    setAccessibleName(tr("Active memory of A and B on one axis"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(240, 130);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void ComparisonPlot::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
        session_->time_view().disconnect(this);
    }
    session_ = session;
    show_changes(nullptr);
    if (session_) {
        connect(&session_->selection(), &Selection::time_point_changed, this, &ComparisonPlot::follow_cursor);
        connect(&session_->time_view(), &TimeView::changed, this, qOverload<>(&QWidget::update));
    }
}

void ComparisonPlot::show_changes(std::shared_ptr<const ShownChanges> shown) {
    const ComparedRuns* before = runs();
    const auto held = std::exchange(shown_, std::move(shown));
    if (runs() != before) {
        pointer_.reset();
        discard_columns();
    }
    follow_cursor();
}

void ComparisonPlot::discard_columns() {
    task_.abandon();
    columns_ = nullptr;
    update();
}

void ComparisonPlot::follow_cursor() {
    const auto place = runs() != nullptr && session_ ? runs()->place_of_cursor(session_->selection().state().time_point)
                                                     : std::nullopt;
    setAccessibleDescription(place ? tr("At the cursor: %1").arg(describe(*place)) : QString());
    update();
}

// --- Places -----------------------------------------------------------------------------------------------------

QRect ComparisonPlot::curves_area() const {
    const int line = fontMetrics().height();
    const QRect all = rect().adjusted(left_margin, line + 6, -right_margin, -2 * line - 6);
    return {all.topLeft(), QSize(all.width(), static_cast<int>(all.height() * part_of_curves))};
}

QRect ComparisonPlot::difference_area() const {
    const QRect curves = curves_area();
    const int bottom = height() - 2 * fontMetrics().height() - 6;
    const int gap = fontMetrics().height() + 5;  // for the name of the difference: the plot is low
    return {curves.left(), curves.bottom() + gap, curves.width(), bottom - curves.bottom() - gap};
}

std::pair<double, double> ComparisonPlot::span() const {
    const ComparedRuns& all = *runs();
    if (all.of_steps || !session_) {
        return {all.first(), all.last()};
    }
    const TimeView& view = session_->time_view();
    const RunOnAxis& a = all.a.on_axis();
    const double from = view.from() <= view.whole_from() ? all.first() : a.place_of(view.time_at(view.from()));
    const double to = view.to() >= view.whole_to() ? all.last() : a.place_of(view.time_at(view.to()));
    return from < to ? std::pair(from, to) : std::pair(all.first(), all.last());
}

AxisMap ComparisonPlot::x_map() const {
    const QRect area = curves_area();
    const auto [from, to] = span();
    return {from, to, static_cast<double>(area.left()), static_cast<double>(area.left() + area.width())};
}

AxisMap ComparisonPlot::y_map() const {
    const auto most = static_cast<double>(std::max(runs()->a.peak_bytes(), runs()->b.peak_bytes()));
    return byte_map(0, std::max(most * headroom, 512.0), curves_area());
}

AxisMap ComparisonPlot::difference_map() const {
    const auto least = static_cast<double>(columns_->least_difference),
               most = static_cast<double>(columns_->most_difference);
    const double margin = std::max((most - least) * 0.08, 256.0);
    return byte_map(least - margin, most + margin, difference_area());
}

std::shared_ptr<const ComparisonPlot::PlotColumns> ComparisonPlot::make_columns(const ComparedRuns& runs, double from,
                                                                                double to, int count) {
    PlotColumns columns{from, to, runs.a.columns(from, to, count), runs.b.columns(from, to, count), 0, 0};
    for (size_t i = 0; i < columns.a.size(); ++i) {
        const int64_t difference = columns.difference_of(i).value_or(0);
        columns.least_difference = std::min(columns.least_difference, difference);
        columns.most_difference = std::max(columns.most_difference, difference);
    }
    return std::make_shared<const PlotColumns>(std::move(columns));
}

/// Requests the columns of the span, one for each device pixel. Only the first are made at once.
void ComparisonPlot::update_columns() {
    const int count = static_cast<int>(curves_area().width() * devicePixelRatioF());
    const auto [from, to] = span();
    if (!columns_) {
        columns_ = make_columns(*runs(), from, to, count);
    } else if (columns_->from != from || columns_->to != to) {
        task_.start([runs = shown_->runs, from = from, to = to, count](Progress&) {
            return make_columns(*runs, from, to, count);
        });
    }
}

std::optional<int64_t> ComparisonPlot::PlotColumns::difference_of(size_t column) const {
    return a[column] && b[column] ? std::optional(b[column]->highest - a[column]->highest) : std::nullopt;
}

/// Returns the place of a column between two heights; columns of an earlier span are moved and scaled.
QRectF ComparisonPlot::column_rect(size_t column, double top, double bottom) const {
    const AxisMap x = x_map();
    const double width = (columns_->to - columns_->from) / static_cast<double>(columns_->a.size());
    const double left = x.pixel(columns_->from + width * static_cast<double>(column));
    const double right = x.pixel(columns_->from + width * static_cast<double>(column + 1));
    return {QPointF(left, top), QPointF(right, bottom)};
}

// --- Painting ---------------------------------------------------------------------------------------------------

void ComparisonPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme theme = Theme::current();
    painter.fillRect(rect(), theme.background);
    if (runs() != nullptr && curves_area().width() > 1) {
        update_columns();
        painter.fillRect(curves_area(), theme.plot_background);
        painter.fillRect(difference_area(), theme.plot_background);
        paint_bytes(painter);
        paint_places(painter);
        paint_curves(painter);
        paint_difference(painter);
        paint_points(painter);
        paint_peaks(painter);
        paint_key(painter);
    }
    if (hasFocus()) {
        painter.setPen(QPen(theme.selection, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -1));
    }
}

/// Names both lines. Names are shortened so that both fit.
void ComparisonPlot::paint_key(QPainter& painter) const {
    constexpr int sample = 18, room = 5, between = 20;
    const Theme theme = Theme::current();
    const QFontMetrics metrics(painter.font());
    double x = curves_area().left();
    const auto add = [&](const QString& letter, const ComparedRun& run, const QColor& color, double thickness) {
        const int most = (curves_area().width() - between) / 2 - sample - room;
        const QString text = metrics.elidedText(letter + QStringLiteral("  ") + run.name(), Qt::ElideMiddle, most);
        const int width = metrics.horizontalAdvance(text);
        painter.fillRect(QRectF(x, 3 + (metrics.height() - thickness) / 2, sample, thickness), color);
        painter.setPen(theme.text);
        painter.drawText(QRectF(x + sample + room, 3, width + 2, metrics.height()), Qt::AlignVCenter | Qt::TextDontClip,
                         text);
        x += sample + room + width + between;
    };
    add(QStringLiteral("A"), runs()->a, color_of_a(theme), thickness_of_a);
    add(QStringLiteral("B"), runs()->b, color_of_b(theme), thickness_of_b);
}

void ComparisonPlot::paint_bytes(QPainter& painter) const {
    const Theme theme = Theme::current();
    const QFontMetrics metrics(painter.font());
    const auto paint = [&](const QRect& area, const AxisMap& y, int rows) {
        const double step = byte_tick_step(std::abs(y.to - y.from), std::max(area.height() / rows, 1));
        for (const double tick : ticks_between(y.from, y.to, step)) {
            const double at = std::round(y.pixel(tick));
            painter.setPen(tick == 0 ? theme.faint_text : theme.grid);
            painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at));
            painter.setPen(theme.faint_text);
            const QString sign = tick < 0 ? QStringLiteral("−") : QString();
            painter.drawText(QRectF(0, at - metrics.height() / 2.0, area.left() - 5, metrics.height()),
                             Qt::AlignRight | Qt::AlignVCenter,
                             sign + QString::fromStdString(byte_tick_label(std::abs(tick), step)));
        }
    };
    paint(curves_area(), y_map(), 34);
    paint(difference_area(), difference_map(), 24);
}

void ComparisonPlot::paint_places(QPainter& painter) const {
    constexpr int pixels_per_tick = 90;
    const Theme theme = Theme::current();
    const QFontMetrics metrics(painter.font());
    const QRect curves = curves_area(), difference = difference_area();
    const AxisMap x = x_map();
    double step = decimal_tick_step(x.to - x.from, std::max(curves.width() / pixels_per_tick, 2));
    const bool is_counted = runs()->unit != AxisUnit::time;
    step = is_counted ? std::max(step, 1.0) : step;
    const double top = difference.bottom() + 3.0;
    for (const double tick : ticks_between(x.from, x.to, step)) {
        const double at = std::round(x.pixel(tick));
        painter.setPen(theme.grid);
        for (const QRect& area : {curves, difference}) {
            painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
        }
        const QString label = is_counted ? count_text(saturated<int64_t>(std::round(tick)))
                                         : QString::fromStdString(time_tick_label(tick, step));
        const int width = metrics.horizontalAdvance(label);
        const double left = std::min(at - width / 2.0, static_cast<double>(this->width() - width - 2));
        painter.setPen(theme.faint_text);
        painter.drawText(QPointF(left, top + metrics.ascent()), label);
    }
    painter.drawText(QRectF(curves.left(), top + metrics.height(), curves.width(), metrics.height()),
                     Qt::AlignCenter | Qt::TextDontClip,
                     metrics.elidedText(axis_text(), Qt::ElideRight, curves.width()));
}

/// Says how the two are aligned, and why not by steps.
QString ComparisonPlot::axis_text() const {
    const ComparedRuns& all = *runs();
    if (all.of_steps) {
        return all.unit == AxisUnit::time ? tr("Time since each begins") : tr("Events since each begins");
    }
    if (all.unit == AxisUnit::steps) {
        return tr("Steps: each step of A and the same step of B have one place");
    }
    QString unit = all.unit == AxisUnit::time ? tr("Time since the first event") : tr("Events since the first");
    switch (all.shared_steps) {
        case SharedSteps::none_in_a: return tr("%1: A has no steps").arg(unit);
        case SharedSteps::none_in_b: return tr("%1: B has no steps").arg(unit);
        case SharedSteps::none_in_either: return tr("%1: neither trace has steps").arg(unit);
        case SharedSteps::other_numbers: return tr("%1: no step of A has a number of B's steps").arg(unit);
        case SharedSteps::some: break;
    }
    return unit;
}

void ComparisonPlot::paint_curves(QPainter& painter) const {
    const Theme theme = Theme::current();
    const AxisMap y = y_map();
    painter.save();
    painter.setClipRect(curves_area());
    for (size_t i = 0; i < columns_->a.size(); ++i) {
        if (const auto difference = columns_->difference_of(i); difference && *difference != 0) {
            const double at_a = y.pixel(static_cast<double>(columns_->a[i]->highest));
            const double at_b = y.pixel(static_cast<double>(columns_->b[i]->highest));
            painter.fillRect(column_rect(i, std::min(at_a, at_b), std::max(at_a, at_b)),
                             difference_color(theme, *difference > 0, 80));
        }
    }
    paint_run(painter, columns_->a, color_of_a(theme), thickness_of_a);
    paint_run(painter, columns_->b, color_of_b(theme), thickness_of_b);
    painter.restore();
}

/// Paints a line that joins the columns without a gap.
void ComparisonPlot::paint_run(QPainter& painter, const RunColumns& columns, const QColor& color,
                               double thickness) const {
    const AxisMap y = y_map();
    std::optional<double> before;
    for (size_t i = 0; i < columns.size(); ++i) {
        if (!columns[i]) {
            before.reset();
            continue;
        }
        const double high = y.pixel(static_cast<double>(columns[i]->highest));
        const double low = y.pixel(static_cast<double>(columns[i]->lowest));
        const double from = std::min(high, before.value_or(high)), to = std::max(low, before.value_or(low));
        painter.fillRect(column_rect(i, from - thickness / 2, to + thickness / 2), color);
        before = (high + low) / 2;
    }
}

void ComparisonPlot::paint_difference(QPainter& painter) const {
    const Theme theme = Theme::current();
    const AxisMap y = difference_map();
    const QRect area = difference_area();
    const double zero = y.pixel(0);
    painter.save();
    painter.setClipRect(area);
    for (size_t i = 0; i < columns_->a.size(); ++i) {
        if (const auto difference = columns_->difference_of(i); difference && *difference != 0) {
            const double at = y.pixel(static_cast<double>(*difference));
            const double top = std::min(at, zero);
            painter.fillRect(column_rect(i, top, std::max({at, zero, top + 1})),
                             difference_color(theme, *difference > 0, 150));
        }
    }
    painter.restore();
    const int64_t least = columns_->least_difference, most = columns_->most_difference;
    const QString text = least == 0 && most == 0 ? tr("B − A: no difference")
                                                 : tr("B − A: %1 to %2").arg(change_text(least), change_text(most));
    const QFontMetrics metrics(painter.font());
    painter.setPen(theme.text);
    painter.drawText(QRectF(area.left(), area.top() - metrics.height() - 1.0, area.width(), metrics.height()),
                     Qt::AlignVCenter | Qt::TextDontClip, metrics.elidedText(text, Qt::ElideRight, area.width()));
}

void ComparisonPlot::paint_peaks(QPainter& painter) const {
    const Theme theme = Theme::current();
    const QRect area = curves_area();
    const AxisMap x = x_map(), y = y_map();
    const QFontMetrics metrics(painter.font());
    QRectF other;
    const auto paint = [&](const QString& name, const ComparedRun& run, const QColor& color) {
        const double at = x.pixel(run.peak_place()), top = y.pixel(static_cast<double>(run.peak_bytes()));
        if (run.peak_bytes() <= 0 || at < area.left() || at > area.right() + 1) {
            return;
        }
        const QString text = tr("%1: peak %2 active").arg(name, bytes_text(run.peak_bytes()));
        QRectF box(at + 6, top - metrics.height() - 5, metrics.horizontalAdvance(text) + 8, metrics.height());
        box.moveTop(std::max<double>(box.top(), area.top()));  // not over the key
        box = free_place(box, at, area, other);
        other = box;
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        painter.drawPolygon(QPolygonF({{at, top - 1}, {at - 5, top - 9}, {at + 5, top - 9}}));
        QColor back = theme.plot_background;
        back.setAlpha(215);
        painter.fillRect(box, back);
        painter.setPen(color);
        painter.drawText(box, Qt::AlignCenter, text);
    };
    paint(QStringLiteral("A"), runs()->a, color_of_a(theme));
    paint(QStringLiteral("B"), runs()->b, color_of_b(theme));
}

/// Marks the cursor, the pointer, and both points that the table compares.
void ComparisonPlot::paint_points(QPainter& painter) const {
    const Theme theme = Theme::current();
    const AxisMap x = x_map(), y = y_map();
    const QRect area = curves_area();
    const auto vertical = [&](double place, const QPen& pen) {
        const double at = std::round(x.pixel(place));
        if (at >= area.left() && at <= area.right() + 1) {
            painter.setPen(pen);
            painter.drawLine(QPointF(at, area.top()), QPointF(at, difference_area().bottom()));
        }
    };
    if (pointer_) {
        vertical(*pointer_, QPen(theme.faint_text, 1, Qt::DotLine));
    }
    if (const auto place =
            session_ ? runs()->place_of_cursor(session_->selection().state().time_point) : std::nullopt) {
        vertical(*place, QPen(theme.cursor, 1));
    }
    const auto dot = [&](const ComparedRun& run, const ComparedPoint& compared, const QColor& color) {
        const double at = x.pixel(compared.place);
        if (at >= area.left() && at <= area.right() + 1) {
            painter.setPen(QPen(theme.plot_background, 1.5));
            painter.setBrush(color);
            painter.drawEllipse(QPointF(at, y.pixel(static_cast<double>(run.active(compared.point)))), 4.5, 4.5);
        }
    };
    if (shown_->reason == NoChanges::none) {
        painter.setRenderHint(QPainter::Antialiasing);
        dot(runs()->a, shown_->a, color_of_a(theme));
        dot(runs()->b, shown_->b, color_of_b(theme));
        painter.setRenderHint(QPainter::Antialiasing, false);
    }
}

}  // namespace tidemark::gui
