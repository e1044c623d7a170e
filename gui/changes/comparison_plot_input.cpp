// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Mouse, wheel and keys of the comparison, and the words at the pointer.
#include <QMouseEvent>
#include <cmath>

#include "gui/changes/comparison_plot.h"
#include "gui/model/text.h"
#include "storage/base/saturated.h"

namespace tidemark::gui {

QString ComparisonPlot::place_text(double place) const {
    switch (runs()->unit) {
        case AxisUnit::steps: return tr("step %1").arg(count_text(saturated<int64_t>(std::floor(place))));
        case AxisUnit::events: return tr("event %1").arg(count_text(saturated<int64_t>(place)));
        case AxisUnit::time: break;
    }
    return duration_text(saturated<int64_t>(place));
}

QString ComparisonPlot::describe(double place) const {
    const auto bytes = [&](const ComparedRun& run) {
        return run.on_axis().has_place(place) ? std::optional(run.active_at(place)) : std::nullopt;
    };
    const auto a = bytes(runs()->a), b = bytes(runs()->b);
    const auto text = [](const std::optional<int64_t>& value) { return value ? bytes_text(*value) : tr("nothing"); };
    QString all = tr("%1: A %2, B %3").arg(place_text(place), text(a), text(b));
    if (a && b) {
        all += QStringLiteral(" (%1)").arg(change_text(*b - *a));
    }
    return all;
}

QString ComparisonPlot::describe_text_at(QPoint point) const {
    if (point.y() < curves_area().top()) {
        const QString a = QStringLiteral("A  ") + runs()->a.name(), b = QStringLiteral("B  ") + runs()->b.name();
        return a.toHtmlEscaped() + QStringLiteral("<br>") + b.toHtmlEscaped();
    }
    return point.y() > difference_area().bottom() ? axis_text().toHtmlEscaped() : QString();
}

void ComparisonPlot::go_to(double place) {
    if (session_) {
        Selection& selection = session_->selection();
        selection.set_time_point(runs()->shown_at(selection.state().time_point).point_at(place));
    }
}

void ComparisonPlot::mousePressEvent(QMouseEvent* event) {
    const bool is_in_plot = runs() != nullptr && curves_area().united(difference_area()).contains(event->pos());
    if (is_in_plot && event->button() == Qt::LeftButton) {
        go_to(place_at(event->position().x()));
    }
}

void ComparisonPlot::mouseMoveEvent(QMouseEvent* event) {
    if (runs() == nullptr) {
        return;
    }
    const QPoint point = event->position().toPoint();
    const QRect area = curves_area().united(difference_area());
    pointer_ = area.contains(point) ? std::optional(place_at(point.x())) : std::nullopt;
    if (event->buttons() & Qt::LeftButton) {
        go_to(place_at(std::clamp(point.x(), area.left(), area.right())));
    }
    if (tip_.isNull()) {
        tip_ = new HoverTip(this);
    }
    tip_->show_at(this, point, pointer_ ? describe(*pointer_) : describe_text_at(point));
    update();
}

void ComparisonPlot::wheelEvent(QWheelEvent* event) {
    constexpr double zoom = 1.25, scroll = 0.08;
    if (runs() == nullptr || runs()->of_steps || !session_) {
        event->ignore();
        return;
    }
    TimeView& view = session_->time_view();
    const double notches = event->angleDelta().y() / 120.0;
    if (wheel_zooms(wheel_mode_, event->modifiers())) {
        const int64_t time = runs()->a.on_axis().time_at(place_at(event->position().x()));
        view.zoom(std::pow(zoom, notches), view.position_of_time(time));
    } else {
        view.pan(-notches * scroll);
    }
}

void ComparisonPlot::keyPressEvent(QKeyEvent* event) {
    const int way = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    const bool is_end = event->key() == Qt::Key_End;
    if (runs() == nullptr || !session_ || (way == 0 && !is_end && event->key() != Qt::Key_Home)) {
        QWidget::keyPressEvent(event);
        return;
    }
    const auto [from, to] = span();
    const auto now = runs()->place_of_cursor(session_->selection().state().time_point);
    const double step = (to - from) / (event->modifiers() & Qt::ShiftModifier ? 10 : 100);
    go_to(way != 0 ? std::clamp(now.value_or(from) + way * step, from, to) : is_end ? to : from);
}

void ComparisonPlot::leaveEvent(QEvent* event) {
    QWidget::leaveEvent(event);
    pointer_.reset();
    if (tip_) {
        tip_->hide();
    }
    update();
}

void ComparisonPlot::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void ComparisonPlot::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

void ComparisonPlot::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    discard_columns();
}

void ComparisonPlot::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange) {
        discard_columns();
    }
}

}  // namespace tidemark::gui
