// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Mouse, wheel and keys of the plots over time.
#include <QApplication>
#include <QLineEdit>
#include <cmath>

#include "gui/model/text.h"
#include "gui/widgets/time_plot.h"

namespace tidemark::gui {

namespace {
constexpr double wheel_zoom = 1.25;
constexpr double wheel_scroll = 0.08;
constexpr int drag_threshold = 4;  // pixels
constexpr double event_reach = 2;  // pixels
}  // namespace

bool TimePlot::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space) {
        event->accept();
        return true;
    }
    return QCustomPlot::event(event);
}

bool TimePlot::on_cursor(QPoint point) const {
    const double x = x_map().pixel(session_->time_view().position_of(session_->selection().state().time_point));
    return point.y() > area().bottom() || std::abs(point.x() - x) <= 3;
}

TimePoint TimePlot::point_under(QPoint point) const {
    const double pixel = position_at(point.x() + 1) - position_at(point.x());
    return session_->time_view().point_near(position_at(point.x()), pixel * event_reach);
}

TimePoint TimePlot::point_under(QPoint point, const Column& column) const {
    return column.first != column.last || column.time_point.repeated ? column.time_point : point_under(point);
}

void TimePlot::set_time_point_at(QPoint point) { session_->selection().set_time_point(point_under(point)); }

void TimePlot::mousePressEvent(QMouseEvent* event) {
    if (!has_data()) {
        return;
    }
    press_ = last_ = event->position().toPoint();
    const bool left = event->button() == Qt::LeftButton;
    if (event->button() == Qt::MiddleButton || (left && space_held_)) {
        drag_ = Drag::pan;
        session_->time_view().begin_gesture();
        setCursor(Qt::ClosedHandCursor);
    } else if (left && event->modifiers() & Qt::AltModifier) {
        drag_ = Drag::bytes;
    } else if (left && !(event->modifiers() & Qt::ControlModifier) && on_cursor(press_)) {
        drag_ = Drag::time_point;
        if (press_.y() > area().bottom()) {
            set_time_point_at(press_);
        }
    } else if (left) {
        drag_ = Drag::undecided;
    }
}

void TimePlot::drag_to(QPoint point) {
    TimeView& view = session_->time_view();
    const QPoint delta = point - last_;
    last_ = point;
    if (drag_ == Drag::undecided && (point - press_).manhattanLength() > drag_threshold) {
        drag_ = Drag::range;
    }
    if (drag_ == Drag::pan) {
        view.pan(-static_cast<double>(delta.x()) / area().width());
        pan_bytes(delta.y());
    } else if (drag_ == Drag::bytes) {
        pan_bytes(delta.y());
    } else if (drag_ == Drag::time_point) {
        set_time_point_at(QPoint(std::clamp(point.x(), area().left(), area().right()), point.y()));
    }
}

void TimePlot::mouseMoveEvent(QMouseEvent* event) {
    if (!has_data()) {
        return;
    }
    const QPoint point = event->position().toPoint();
    if (drag_ != Drag::none) {
        drag_to(point);
    }
    if (drag_ == Drag::range) {
        const auto clip = [this](int x) { return std::clamp(x, area().left(), area().right() + 1); };
        const double a = position_at(clip(press_.x())), b = position_at(clip(point.x()));
        session_->selection().preview_range(std::pair(std::min(a, b), std::max(a, b)));
    }
    hover(point);
}

void TimePlot::hover(QPoint point) {
    const bool inside = area().contains(point);
    session_->time_view().set_pointer(inside ? std::optional(position_at(point.x())) : std::nullopt);
    if (drag_ != Drag::pan) {
        setCursor(space_held_ ? Qt::OpenHandCursor : on_cursor(point) ? Qt::SplitHCursor : Qt::ArrowCursor);
    }
    if (tip_.isNull()) {
        tip_ = new HoverTip(this);
    }
    const bool wanted = viewport().contains(point) && (drag_ == Drag::none || drag_ == Drag::time_point);
    tip_->show_at(this, point, wanted ? describe(point) : QString());
}

void TimePlot::mouseReleaseEvent(QMouseEvent* event) {
    if (!has_data()) {
        return;
    }
    const Drag finished = std::exchange(drag_, Drag::none);
    if (finished == Drag::pan) {
        session_->time_view().end_gesture();
        unsetCursor();
    } else if (finished == Drag::range) {
        session_->selection().select_range(session_->selection().state().range);
    } else if (finished == Drag::undecided) {
        const QPoint point = event->position().toPoint();
        if (event->modifiers() & Qt::ControlModifier && tip_) {
            tip_->pin();
        } else {
            clicked(point);
        }
    }
}

void TimePlot::mouseDoubleClickEvent(QMouseEvent* event) {
    if (has_data() && event->button() == Qt::LeftButton) {
        double_clicked(event->position().toPoint());
    }
}

void TimePlot::wheelEvent(QWheelEvent* event) {
    if (!has_data()) {
        return;
    }
    TimeView& view = session_->time_view();
    QPoint turn = event->angleDelta();
    if (event->modifiers() & Qt::AltModifier) {
        turn = turn.transposed();  // Qt turns the wheel sideways with Alt
    }
    const double notches = turn.y() / 120.0;
    if (!wheel_rest_.isActive()) {
        view.begin_gesture();
    }
    wheel_rest_.start();
    if (event->modifiers() & Qt::ShiftModifier) {
        const double notch = notches != 0 ? notches : turn.x() / 120.0;
        zoom_bytes(std::pow(wheel_zoom, notch), event->position().y());
    } else if (wheel_zooms(wheel_mode_, event->modifiers())) {
        view.zoom(std::pow(wheel_zoom, notches), position_at(event->position().x()));
    } else {
        view.pan(-(notches + turn.x() / 120.0) * wheel_scroll);
    }
    event->accept();
}

/// The menu is of the place under the pointer; the key for menus means the cursor.
void TimePlot::contextMenuEvent(QContextMenuEvent* event) {
    if (!has_data()) {
        return;
    }
    if (tip_) {
        tip_->hide();  // it would cover the menu, and stay behind it
    }
    const TimeView& view = session_->time_view();
    if (event->reason() == QContextMenuEvent::Mouse) {
        emit menu_requested(point_under(event->pos()), event->globalPos());
        return;
    }
    const TimePoint& cursor = session_->selection().state().time_point;
    const double x = std::clamp<double>(x_map().pixel(view.position_of(cursor)), area().left(), area().right());
    emit menu_requested(cursor, mapToGlobal(QPoint(static_cast<int>(x), area().center().y())));
}

void TimePlot::enterEvent(QEnterEvent* event) {
    QCustomPlot::enterEvent(event);
    // Keys go to the plot under the pointer, unless the user types into a field.
    if (qobject_cast<QLineEdit*>(QApplication::focusWidget()) == nullptr) {
        setFocus(Qt::MouseFocusReason);
    }
}

void TimePlot::leaveEvent(QEvent* event) {
    QCustomPlot::leaveEvent(event);
    if (tip_) {
        tip_->hide();
    }
    if (session_) {
        session_->time_view().set_pointer(std::nullopt);
    }
}

void TimePlot::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Space) {
        space_held_ = true;
        setCursor(Qt::OpenHandCursor);
        return;
    }
    if (has_data() && (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)) {
        session_->go_to_change(event->key() == Qt::Key_Left ? -1 : 1);
        return;
    }
    QCustomPlot::keyPressEvent(event);
}

void TimePlot::keyReleaseEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Space && !event->isAutoRepeat()) {
        space_held_ = false;
        unsetCursor();
        return;
    }
    QCustomPlot::keyReleaseEvent(event);
}

void TimePlot::focusOutEvent(QFocusEvent* event) {
    space_held_ = false;  // the widget with the focus gets its release
    QCustomPlot::focusOutEvent(event);
}

}  // namespace tidemark::gui
