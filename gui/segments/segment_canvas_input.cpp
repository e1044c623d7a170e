// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include <QApplication>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/segments/block_text.h"
#include "gui/segments/segment_canvas.h"
#include "storage/base/saturated.h"

namespace tidemark::gui {

namespace {
constexpr double wheel_step = 1.25;
}  // namespace

// --- Mouse ------------------------------------------------------------------------------------------------------

std::optional<BlockRef> SegmentCanvas::block_near(QPointF map_point) const {
    const auto hit = state_ ? layout_.hit(map_point) : std::nullopt;
    if (!hit) {
        return std::nullopt;
    }
    const PlacedSegment& placed = layout_.segments()[hit->placed];
    const SegmentState& segment = state_->segments[placed.index];
    if (segment.blocks.empty()) {
        return std::nullopt;
    }
    const double bytes_in_pixel = 1 / placed.pixels_per_byte();
    const auto begin = segment.address + saturated<uint64_t>(std::max(0.0, hit->offset - bytes_in_pixel));
    const auto end = segment.address + saturated<uint64_t>(hit->offset + bytes_in_pixel);
    BlockRef best{placed.index, block_at(segment, segment.address + saturated<uint64_t>(hit->offset))};
    if (static_cast<double>(segment.blocks[best.block].size) >= bytes_in_pixel &&
        segment.blocks[best.block].state != BlockState::inactive) {
        return best;
    }
    // For slivers: the largest block in use within a pixel of the pointer.
    uint64_t best_size = 0;
    for (uint32_t i = block_at(segment, begin); i < segment.blocks.size() && segment.blocks[i].address <= end; ++i) {
        if (segment.blocks[i].state != BlockState::inactive && segment.blocks[i].size > best_size) {
            best_size = segment.blocks[i].size;
            best.block = i;
        }
    }
    return best;
}

void SegmentCanvas::mouseMoveEvent(QMouseEvent* event) {
    if (drag_from_ &&
        (dragging_ || (event->pos() - *drag_from_).manhattanLength() > QApplication::startDragDistance())) {
        dragging_ = true;
        viewport()->setCursor(Qt::ClosedHandCursor);
        verticalScrollBar()->setValue(drag_scroll_ + drag_from_->y() - event->pos().y());
        return;
    }
    const auto block = block_near(to_map(event->position()));
    if (block != hovered_) {
        hovered_ = block;
        viewport()->update();
        if (block) {
            show_tip(event->globalPosition().toPoint(), *block);
        } else {
            QToolTip::hideText();
        }
    }
}

void SegmentCanvas::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton || event->button() == Qt::MiddleButton) {
        drag_from_ = event->pos();
        drag_scroll_ = verticalScrollBar()->value();
        dragging_ = false;
    }
}

void SegmentCanvas::mouseReleaseEvent(QMouseEvent* event) {
    const bool click = drag_from_ && !dragging_ && event->button() == Qt::LeftButton;
    drag_from_.reset();
    dragging_ = false;
    viewport()->unsetCursor();
    if (!click || !session_) {
        return;
    }
    if (const auto block = block_near(to_map(event->position()))) {
        select(*block);
    } else {
        session_->clear_selection();
    }
}

void SegmentCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const auto hit = state_ ? layout_.hit(to_map(event->position())) : std::nullopt) {
        zoom_to_segment(layout_.segments()[hit->placed].index);
    } else {
        fit();
    }
}

void SegmentCanvas::wheelEvent(QWheelEvent* event) {
    if ((event->modifiers() & Qt::ControlModifier) == 0) {
        QAbstractScrollArea::wheelEvent(event);
        return;
    }
    zoom_at(std::pow(wheel_step, event->angleDelta().y() / 120.0), event->position());
    event->accept();
}

bool SegmentCanvas::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave && hovered_) {
        hovered_.reset();
        viewport()->update();
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void SegmentCanvas::select(BlockRef block) {
    focused_ = block;
    const Block& b = block_of(*state_, block);
    focus_address_ = b.address;
    if (b.allocation != no_allocation) {
        session_->selection().select_allocation(b.allocation);
    } else {
        session_->selection().select_segment(state_->segments[block.segment].segment);
    }
}

// --- Keys -------------------------------------------------------------------------------------------------------

void SegmentCanvas::keyPressEvent(QKeyEvent* event) {
    if (!state_ || layout_.segments().empty()) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
        case Qt::Key_Left: move_focus(-1); return;
        case Qt::Key_Right: move_focus(1); return;
        case Qt::Key_Up: move_focus_vertically(-1); return;
        case Qt::Key_Down: move_focus_vertically(1); return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (focused_) {
                select(*focused_);
            }
            return;
        case Qt::Key_Plus:
        case Qt::Key_Equal: zoom_by(wheel_step); return;
        case Qt::Key_Minus: zoom_by(1 / wheel_step); return;
        case Qt::Key_0: fit(); return;
        default: QAbstractScrollArea::keyPressEvent(event);
    }
}

std::optional<BlockRef> SegmentCanvas::first_visible_block() const {
    const QRect area = visible_area();
    const auto [first, last] = layout_.visible(area.top(), area.bottom());
    for (uint32_t i = first; i < last; ++i) {
        if (!state_->segments[layout_.segments()[i].index].blocks.empty()) {
            return BlockRef{layout_.segments()[i].index, 0};
        }
    }
    return std::nullopt;
}

void SegmentCanvas::set_focus_block(BlockRef block) {
    focused_ = block;
    focus_address_ = block_of(*state_, block).address;
    ensure_visible(block);
    viewport()->update();
    const QString description = summarize_block(*session_, *state_, block);
    setAccessibleDescription(description);
    emit focus_moved(description);
}

void SegmentCanvas::move_focus(int step) {
    if (!focused_) {
        const auto selected = find_block(*state_, session_->device(), session_->selection().state().allocation);
        if (const auto start = selected ? selected : first_visible_block()) {
            set_focus_block(*start);
        }
        return;
    }
    BlockRef next = *focused_;
    const int block = static_cast<int>(next.block) + step;
    if (block >= 0 && block < static_cast<int>(state_->segments[next.segment].blocks.size())) {
        next.block = static_cast<uint32_t>(block);
    } else {
        const int placed = static_cast<int>(*layout_.placed_of(next.segment)) + step;
        if (placed < 0 || placed >= static_cast<int>(layout_.segments().size())) {
            return;
        }
        next.segment = layout_.segments()[static_cast<size_t>(placed)].index;
        const size_t count = state_->segments[next.segment].blocks.size();
        if (count == 0) {
            return;
        }
        next.block = step > 0 ? 0 : static_cast<uint32_t>(count - 1);
    }
    set_focus_block(next);
}

void SegmentCanvas::move_focus_vertically(int lines) {
    if (!focused_) {
        move_focus(1);
        return;
    }
    const SegmentState& segment = state_->segments[focused_->segment];
    const PlacedSegment& placed = layout_.segments()[*layout_.placed_of(focused_->segment)];
    const Block& block = segment.blocks[focused_->block];
    // Starts from the block's last line downwards, from its first upwards, to leave the block at once.
    const double edge = lines > 0 ? static_cast<double>(block.address + block.size - segment.address) - 1
                                  : static_cast<double>(block.address - segment.address);
    QPointF at = layout_.position(placed, edge) + QPointF(0.5, layout_.options().bar_height / 2.0);
    for (int tries = 0; tries < 8; ++tries) {
        at.ry() += lines * layout_.options().pitch();
        for (double x = at.x(); x >= 0; x -= 6) {
            const auto found = block_near({x, at.y()});
            if (found && *found != *focused_) {
                set_focus_block(*found);
                return;
            }
        }
    }
}

void SegmentCanvas::show_tip(QPoint global, BlockRef block) {
    const auto placed = layout_.placed_of(block.segment);
    const SegmentState& segment = state_->segments[block.segment];
    const double bytes_in_pixel = 1 / layout_.segments()[*placed].pixels_per_byte();
    const Block& b = segment.blocks[block.block];
    int others = 0;
    if (static_cast<double>(b.size) < bytes_in_pixel) {
        const auto end = b.address + saturated<uint64_t>(bytes_in_pixel);
        for (uint32_t i = block.block + 1; i < segment.blocks.size() && segment.blocks[i].address < end; ++i) {
            others += segment.blocks[i].state != BlockState::inactive;
        }
    }
    QToolTip::showText(global, describe_block(*session_, *state_, block, others), viewport());
}

}  // namespace tidemark::gui
