// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_view.h"

#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace tidemark::gui {

namespace {
constexpr double greatest_scale = 3;
constexpr double least_of_path = 0.5;  // smallest scale at which a box has room for its title
constexpr double readable = 0.8;       // smallest scale at which a new drawing is shown
constexpr double margin = 12;
}  // namespace

GraphView::GraphView(QWidget* parent) : QWidget(parent), painter_(font(), Theme::current()) {
    setObjectName(QStringLiteral("graph_view"));
    setAccessibleName(tr("Drawing of the autograd graph"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(260, 160);
}

BoxMetrics GraphView::metrics() const {
    const QFontMetricsF font_metrics(font());
    return {font_metrics.height(), font_metrics.averageCharWidth() * 29};
}

void GraphView::set_session(Session* session) {
    if (session_) {
        session_->selection().disconnect(this);
    }
    session_ = session;
    set_picture(nullptr, false);
    if (session_) {
        connect(&session_->selection(), &Selection::selected_changed, this, &GraphView::update_marks);
    }
}

void GraphView::set_picture(std::shared_ptr<const GraphPicture> picture, bool keep_place) {
    const uint64_t focus = picture_ && focused_ >= 0 ? box(focused_).key : 0;
    picture_ = std::move(picture);
    painter_.set_picture(picture_);
    hovered_ = -1;
    focused_ = picture_ ? scene().find(focus) : -1;
    if (picture_ && keep_place && anchor_) {
        if (const int b = scene().find(anchor_->first); b >= 0) {
            place_.offset = anchor_->second - box(b).rect.topLeft() * place_.scale;
        }
    } else if (picture_ && (!keep_place || fitted_)) {
        fit();
    }
    anchor_.reset();
    show_found(found_nodes_);
    update_marks();
}

void GraphView::set_colors(GraphColors by) {
    painter_.set_colors(by);
    update();
}

void GraphView::show_found(const std::vector<NodeIndex>& nodes) {
    const bool same = nodes == found_nodes_;
    found_nodes_ = nodes;
    found_ = picture_ ? boxes_with(*picture_, nodes) : std::vector<int>();
    if (!found_.empty() && !same) {
        reveal(found_.front());
    }
    update();
}

void GraphView::update_marks() {
    marks_ = {};
    if (picture_ && session_ &&
        picture_->graph == session_->graph()) {  // otherwise node numbers refer to another graph
        const SelectionState& state = session_->selection().state();
        const CategoryLookup lookup = session_->categories();
        marks_ = mark_selection(*picture_, state.node,
                                lookup.knows(state.allocation) ? lookup.ref(state.allocation) : AllocationRef());
    }
    update();
}

// ---- place ------------------------------------------------------------------------------------------------------

QRectF GraphView::drawing_area() const { return QRectF(rect()).adjusted(0, 0, 0, -painter_.legend_height(size())); }

GraphPlace GraphView::fitted(QSizeF area) const {
    const QSizeF size = scene().size;
    const double fits_width = (area.width() - 2 * margin) / std::max(size.width(), 1.0);
    const double fits_height = (area.height() - 2 * margin) / std::max(size.height(), 1.0);
    GraphPlace place;
    place.scale = std::clamp(std::min(fits_width, std::max(fits_height, readable)), 0.03, 1.0);
    place.scale = std::max(place.scale, std::min(fits_height, std::min(readable, 1.0)));
    const QSizeF shown = size * place.scale;
    place.offset = QPointF((area.width() - shown.width()) / 2,
                           shown.height() <= area.height() ? (area.height() - shown.height()) / 2 : margin);
    return place;
}

void GraphView::fit() {
    if (picture_) {
        place_ = fitted(drawing_area().size());
        fitted_ = true;
        update();
    }
}

void GraphView::zoom_by(double factor) { zoom_at(factor, drawing_area().center()); }

/// Returns the scale at which the whole drawing fills half of the view: a smaller one shows nothing more.
double GraphView::least_scale() const {
    const QSizeF area = drawing_area().size(), size = picture_ ? scene().size : QSizeF(1, 1);
    return std::min(
        {area.width() / std::max(size.width(), 1.0) / 2, area.height() / std::max(size.height(), 1.0) / 2, readable});
}

void GraphView::zoom_at(double factor, QPointF point) {
    const QPointF fixed = place_.to_scene(point);
    place_.scale = std::clamp(place_.scale * factor, least_scale(), greatest_scale);
    place_.offset = point - fixed * place_.scale;
    fitted_ = false;
    update();
}

void GraphView::reveal(int b) {
    const QRectF area = drawing_area().adjusted(margin, margin, -margin, -margin);
    const QRectF rect = place_.to_screen(box(b).rect);
    const auto shift = [](double low, double high, double from, double to) {
        return low < from ? from - low : high > to ? std::max(to - high, from - low) : 0;
    };
    const QPointF by(shift(rect.left(), rect.right(), area.left(), area.right()),
                     shift(rect.top(), rect.bottom(), area.top(), area.bottom()));
    fitted_ = fitted_ && by.isNull();
    place_.offset += by;
    update();
}

void GraphView::reveal_marks() {
    QRectF all;
    int end = -1;
    for (int b = 0; b < static_cast<int>(marks_.boxes.size()); ++b) {
        if (const uint8_t mark = marks_.boxes[static_cast<size_t>(b)]; mark != 0) {
            all |= box(b).rect;
            end = end < 0 || (mark & ~GraphMarks::on_path) != 0 ? b : end;
        }
    }
    if (end < 0) {
        return;
    }
    const QRectF area = drawing_area().adjusted(2 * margin, margin, -2 * margin, -2 * margin);
    if (!area.contains(place_.to_screen(all))) {
        const double fits = std::min(area.width() / all.width(), area.height() / all.height());
        place_.scale = std::max(std::min(place_.scale, fits), std::min(place_.scale, least_of_path));
        place_.offset = area.center() - all.center() * place_.scale;
        fitted_ = false;
        reveal(end);
    }
    update();
}

/// Shows the content of a frame that is drawn as one box.
void GraphView::zoom_into(int b) {
    const QRectF area = drawing_area(), rect = box(b).rect;
    place_.scale = std::clamp(area.width() / (rect.width() + 2 * margin), readable, 1.0);
    place_.offset =
        QPointF(area.center().x() - rect.center().x() * place_.scale, area.top() + margin - rect.top() * place_.scale);
    fitted_ = false;
    update();
}

// ---- painting ---------------------------------------------------------------------------------------------------

GraphPainter::Look GraphView::look(const GraphPlace& place, const QRectF& area) const {
    return {place, area, &marks_, hovered_, hasFocus() ? focused_ : -1, &found_};
}

void GraphView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme theme = Theme::current();
    painter.fillRect(rect(), theme.plot_background);
    if (!picture_) {
        return;
    }
    painter.save();
    painter.setClipRect(drawing_area());
    painter_.paint(painter, look(place_, drawing_area()));
    painter.restore();
    painter_.paint_legend(painter, size());
}

void GraphView::render_to(QPainter& painter, QSize size) {
    const QRectF area(0, 0, size.width(), size.height() - painter_.legend_height(size));
    painter.fillRect(QRect(QPoint(), size), Theme::current().plot_background);
    if (picture_) {
        painter.save();
        painter.setClipRect(area);
        painter_.paint(painter, look(fitted(area.size()), area));
        painter.restore();
        painter_.paint_legend(painter, size);
    }
}

void GraphView::resizeEvent(QResizeEvent*) {
    if (fitted_) {
        fit();
    }
}

void GraphView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        const GraphColors colors = painter_.colors();
        painter_ = GraphPainter(font(), Theme::current());
        painter_.set_colors(colors);
        painter_.set_picture(picture_);
        update();
    }
}

// ---- mouse ------------------------------------------------------------------------------------------------------

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
        fitted_ = false;
        emit box(b).open ? close_requested(box(b).key) : open_requested(box(b).key);
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
        fitted_ = false;
        focused_ = frame;
        emit close_requested(box(frame).key);
    }
}

void GraphView::wheelEvent(QWheelEvent* event) {
    if (event->modifiers() & Qt::ShiftModifier) {
        place_.offset += QPointF(event->angleDelta().y() + event->angleDelta().x(), 0) / 2;
        fitted_ = false;
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
        fitted_ = false;
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
