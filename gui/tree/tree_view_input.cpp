// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <algorithm>
#include <iterator>

#include "gui/tree/tree_view.h"

namespace tidemark::gui {

// --- Mouse ------------------------------------------------------------------------------------------------------

void TreeView::mouseMoveEvent(QMouseEvent* event) {
    hover(box_under(event->position()));
    show_tip(event->position().toPoint());
}

/// The second click of a double click presses nothing: the first has zoomed, so another frame is under the pointer.
void TreeView::mousePressEvent(QMouseEvent* event) {
    pressed_ = event->button() == Qt::LeftButton ? box_under(event->position()) : std::nullopt;
}

void TreeView::mouseReleaseEvent(QMouseEvent* event) {
    const auto pressed = std::exchange(pressed_, std::nullopt);
    const auto box = box_under(event->position());
    if (pressed && box && box->node == pressed->node) {
        zoom_to(box->is_rest ? tree().node(box->node).parent : box->node);
    }
}

bool TreeView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave || event->type() == QEvent::Wheel) {
        hover(std::nullopt);  // after the wheel another box is under the pointer
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void TreeView::hideEvent(QHideEvent* event) {
    hover(std::nullopt);
    QAbstractScrollArea::hideEvent(event);
}

void TreeView::hover(const std::optional<TreeBox>& box) {
    const auto key = [](const std::optional<TreeBox>& b) {
        return b ? std::optional(std::pair(b->node, b->is_rest)) : std::nullopt;
    };
    if (!box && tip_) {
        tip_->hide();
    }
    if (key(box) == key(hovered_)) {
        return;
    }
    hovered_ = box;
    std::vector<AllocationIndex> allocations;
    if (box) {
        // The smaller siblings follow the node, up to the end of their parent.
        const uint32_t end = box->is_rest ? tree().node(tree().node(box->node).parent).end : box->node + 1;
        for (uint32_t n = box->node; n < end; n = tree().node(n).end) {
            const auto own = tree().allocations(n);
            allocations.insert(allocations.end(), own.begin(), own.end());
        }
        std::sort(allocations.begin(), allocations.end());
    }
    if (session_) {
        session_->selection().set_hovered(std::move(allocations));
    }
    viewport()->update();
}

void TreeView::show_tip(QPoint point) {
    if (!hovered_) {
        return;
    }
    if (tip_.isNull()) {
        tip_ = new HoverTip(this);
    }
    tip_->show_at(
        viewport(), point,
        hovered_->is_rest ? rest_tip(*shown_, hovered_->node) : node_tip(*shown_, hovered_->first, hovered_->node));
}

// --- Keys -------------------------------------------------------------------------------------------------------

bool TreeView::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        // The view handles these keys, so the shortcuts of the window must not take them.
        switch (static_cast<QKeyEvent*>(event)->key()) {
            case Qt::Key_Escape:
                if (zooms_.empty()) {
                    break;  // the window clears its selection
                }
                [[fallthrough]];
            case Qt::Key_Left:
            case Qt::Key_Right:
            case Qt::Key_Up:
            case Qt::Key_Down:
            case Qt::Key_Return:
            case Qt::Key_Enter:
            case Qt::Key_Backspace:
            case Qt::Key_Slash:
            case Qt::Key_Home: event->accept(); return true;
            default: break;
        }
    }
    return QAbstractScrollArea::event(event);
}

void TreeView::keyPressEvent(QKeyEvent* event) {
    if (!has_boxes()) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Up:
        case Qt::Key_Down:
            set_focused(next_focused(event->key()));
            scroll_to_focused();
            break;
        case Qt::Key_Return:
        case Qt::Key_Enter: zoom_to(focused_); break;
        case Qt::Key_Escape:
        case Qt::Key_Backspace: zoom_out(); break;
        case Qt::Key_Home: show_whole(); break;
        case Qt::Key_Slash: emit search_requested(); break;
        default: QAbstractScrollArea::keyPressEvent(event);
    }
}

/// Returns the box `step` places behind the focused one in its level, or the focused one.
uint32_t TreeView::neighbor(int step) const {
    std::vector<TreeBox> row;
    const uint32_t first = layout_.box_of(focused_)->first;
    std::ranges::copy_if(layout_.boxes(), std::back_inserter(row),
                         [&](const TreeBox& box) { return tree().node(box.first).depth == tree().node(first).depth; });
    const auto here = std::find_if(row.begin(), row.end(), [&](const TreeBox& box) { return box.first == first; });
    const auto place = here - row.begin() + step;
    return here == row.end() || place < 0 || place >= static_cast<ptrdiff_t>(row.size()) ||
                   row[static_cast<size_t>(place)].is_rest
               ? focused_
               : row[static_cast<size_t>(place)].node;
}

/// Returns the largest child that has a box, or the focused box. Above a zoomed box it is the one on the way.
uint32_t TreeView::child_in_view() const {
    std::optional<TreeBox> found;
    tree().for_each_child(layout_.box_of(focused_)->node, [&](uint32_t child) {
        if (!found) {
            found = layout_.box_of(child);
        }
    });
    return found ? found->node : focused_;
}

/// Returns the node around the focused box, or the focused one.
uint32_t TreeView::parent_in_view() const {
    const auto around = layout_.box_of(tree().node(layout_.box_of(focused_)->first).parent);
    return around ? around->node : focused_;
}

uint32_t TreeView::next_focused(int key) const {
    if (!layout_.box_of(focused_)) {
        return zoomed();  // the focused box is outside of the picture
    }
    switch (key) {
        case Qt::Key_Left: return neighbor(-1);
        case Qt::Key_Right: return neighbor(1);
        case Qt::Key_Up: return parent_in_view();
        case Qt::Key_Down: return child_in_view();
        default: return focused_;
    }
}

void TreeView::set_focused(uint32_t node) {
    focused_ = node;
    setAccessibleDescription(node_summary(*shown_, node));
    viewport()->update();
}

void TreeView::focus_next_found() {
    const auto count = static_cast<uint32_t>(found_.is_found.size());
    for (uint32_t step = 1; step <= count; ++step) {
        const uint32_t n = (focused_ + step) % count;
        if (found_.is_found[n] && layout_.box_of(n)) {
            set_focused(n);
            scroll_to_focused();
            setFocus();
            return;
        }
    }
}

void TreeView::focusInEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void TreeView::focusOutEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

}  // namespace tidemark::gui
