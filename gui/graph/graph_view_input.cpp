// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The mouse and the keys in the drawing of the graph.
#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/graph/graph_view.h"

namespace tidemark::gui {

int GraphView::box_under(QPointF point) const {
    const int b = picture_ && drawing_area().contains(point) ? scene().box_at(place_.to_scene(point)) : -1;
    return b < 0 ? b : painter_.detail(place_.scale).shown(b);
}

std::optional<GraphPort> GraphView::port_at(QPointF point) const {
    if (!picture_ || !drawing_area().contains(point)) {
        return std::nullopt;
    }
    const QPointF at = place_.to_scene(point);
    const GraphDetail detail = painter_.detail(place_.scale);
    for (int i = 0; i < static_cast<int>(scene().boxes.size()); ++i) {
        const GraphBox& b = box(i);
        if (detail.is_drawn(i) && b.is_node() && b.saved > 0 && b.rect.adjusted(0, 0, 100, 0).contains(at)) {
            for (const GraphPort& port : ports_of(*picture_, b)) {
                if (port.rect.adjusted(-2, -2, 2, 2).contains(at)) {
                    return port;
                }
            }
        }
    }
    return std::nullopt;
}

void GraphView::hover(int b) {
    if (b == hovered_) {
        return;
    }
    hovered_ = b;
    if (session_) {
        const auto device = static_cast<uint32_t>(session_->selection().state().device);
        session_->selection().set_hovered(b < 0 ? std::vector<AllocationIndex>()
                                                : picture_->retained_allocations(box(b), device));
    }
    update();
}

void GraphView::select(int b) {
    focused_ = b;
    if (session_ && picture_->graph == session_->graph() && b >= 0 && box(b).node != no_node) {
        session_->selection().select_node(box(b).node);
    }
    update();
}

void GraphView::toggle(int b) {
    if (b >= 0 && painter_.detail(place_.scale).is_collapsed(b)) {
        zoom_into(b);
    } else if (b >= 0 && box(b).is_group()) {
        anchor_ = {box(b).key, place_.to_screen(box(b).rect.topLeft())};
        fitted_ = shows_marks_ = false;
        emit box(b).open ? close_requested(box(b).key) : open_requested(picture_->outline->group(box(b).group).key);
    }
}

/// Closes the frame around a box, or the box itself if it is a frame.
void GraphView::close_around(int b) {
    const int frame = b < 0 || box(b).open ? b : box(b).parent;
    if (frame >= 0) {
        const QRectF area = drawing_area();
        QPointF corner = place_.to_screen(box(frame).rect.topLeft());
        corner.setX(std::max(corner.x(), area.left() + margin));
        corner.setY(std::max(corner.y(), area.top() + margin));
        anchor_ = {box(frame).key, corner};
        fitted_ = shows_marks_ = false;
        focused_ = frame;
        emit close_requested(box(frame).key);
    }
}

void GraphView::wheelEvent(QWheelEvent* event) {
    if (event->modifiers() & Qt::ShiftModifier) {
        place_.offset += QPointF(event->angleDelta().y() + event->angleDelta().x(), 0) / 2;
        fitted_ = shows_marks_ = false;
        update();
    } else {
        zoom_at(std::pow(1.0015, event->angleDelta().y()), event->position());
    }
    event->accept();
}

void GraphView::mousePressEvent(QMouseEvent* event) {
    pressed_at_ = event->position();
    offset_at_press_ = place_.offset;
    dragging_ = false;
}

void GraphView::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() == Qt::NoButton) {
        const int b = box_under(event->position());
        hover(b >= 0 && painter_.detail(place_.scale).is_frame(b) ? -1 : b);
        return;
    }
    const QPointF moved = event->position() - pressed_at_;
    dragging_ = dragging_ || moved.manhattanLength() >= QApplication::startDragDistance();
    if (dragging_) {
        place_.offset = offset_at_press_ + moved;
        fitted_ = shows_marks_ = false;
        update();
    }
}

void GraphView::mouseReleaseEvent(QMouseEvent* event) {
    if (std::exchange(dragging_, false) || event->button() != Qt::LeftButton) {
        return;
    }
    if (const auto port = port_at(event->position())) {
        const AllocationRef memory = picture_->index().tables().saved.allocation[port->saved];
        if (memory && session_ && static_cast<uint32_t>(session_->selection().state().device) == memory.device) {
            session_->selection().select_allocation(memory.index);
        }
    } else if (const int b = box_under(event->position()); b >= 0) {
        select(b);
    }
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event) { toggle(box_under(event->position())); }

void GraphView::leaveEvent(QEvent*) { hover(-1); }

// ---- keys -------------------------------------------------------------------------------------------------------

bool GraphView::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        // The view handles these keys, so the shortcuts of the window must not take them.
        switch (static_cast<QKeyEvent*>(event)->key()) {
            case Qt::Key_Backspace:
            case Qt::Key_Slash:
            case Qt::Key_Plus:
            case Qt::Key_Minus:
            case Qt::Key_0:
            case Qt::Key_Home: event->accept(); return true;
            default: break;
        }
    }
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const auto port = port_at(help->pos());
        const int b = box_under(help->pos());
        if (port) {
            QToolTip::showText(help->globalPos(), painter_.describe(*port), this);
        } else if (b >= 0) {
            QToolTip::showText(help->globalPos(), painter_.describe(b), this);
        } else {
            QToolTip::hideText();
        }
        return true;
    }
    return QWidget::event(event);
}

void GraphView::keyPressEvent(QKeyEvent* event) {
    if (!picture_) {
        QWidget::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Up:
        case Qt::Key_Down: move_focus(event->key()); break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (focused_ >= 0 && box(focused_).is_group()) {
                toggle(focused_);
            }
            break;
        case Qt::Key_Backspace: close_around(focused_); break;
        case Qt::Key_Slash: emit search_requested(); break;
        case Qt::Key_Plus: zoom_by(1.25); break;
        case Qt::Key_Minus: zoom_by(1 / 1.25); break;
        case Qt::Key_0:
        case Qt::Key_Home: fit(); break;
        default: QWidget::keyPressEvent(event);
    }
}

void GraphView::move_focus(int key) {
    const QPointF direction = key == Qt::Key_Left    ? QPointF(-1, 0)
                              : key == Qt::Key_Right ? QPointF(1, 0)
                              : key == Qt::Key_Up    ? QPointF(0, -1)
                                                     : QPointF(0, 1);
    const int next = focused_ >= 0 ? neighbor(focused_, direction) : topmost();
    if (next >= 0) {
        select(next);
        reveal(next);
    }
}

/// Returns the first box for the arrow keys: the topmost that is no frame.
int GraphView::topmost() const {
    int best = -1;
    for (int b = 0; b < static_cast<int>(scene().boxes.size()); ++b) {
        if (!box(b).open && (best < 0 || box(b).rect.top() < box(best).rect.top())) {
            best = b;
        }
    }
    return best;
}

/// Returns the nearest box in a direction; linked boxes count as nearer.
int GraphView::neighbor(int from, QPointF direction) const {
    const QPointF here = box(from).rect.center();
    int best = -1;
    double least = INFINITY;
    for (int b = 0; b < static_cast<int>(scene().boxes.size()); ++b) {
        if (b == from || box(b).open) {
            continue;
        }
        const QPointF way = box(b).rect.center() - here;
        const double along = QPointF::dotProduct(way, direction);
        const double aside = std::abs(way.x() * direction.y() - way.y() * direction.x());
        if (along <= 1) {
            continue;
        }
        const bool linked = std::any_of(scene().links.begin(), scene().links.end(), [&](const GraphLink& link) {
            return (link.from == from && link.to == b) || (link.from == b && link.to == from);
        });
        const double distance = (along + 2.5 * aside) * (linked ? 0.3 : 1);
        if (distance < least) {
            least = distance;
            best = b;
        }
    }
    return best;
}

}  // namespace tidemark::gui
