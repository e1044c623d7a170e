// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The marks on the segment map: what is selected, hovered and focused.
#include <algorithm>

#include "gui/segments/segment_painter.h"

namespace tidemark::gui {

namespace {
constexpr double underline = 4, shortest_underline = 3;  // pixels, below what is selected
}  // namespace

/// Marks what is selected: where nearly everything is, or only a few slivers are, little or nothing else is dimmed.
void SegmentPainter::underline_lit(QPainter& painter, const QRectF& bar) const {
    for (size_t begin = 0, end = 0; begin < columns_.size(); begin = end) {
        end = begin + 1;
        while (end < columns_.size() && columns_[end].lit == columns_[begin].lit) {
            ++end;
        }
        if (columns_[begin].lit) {
            const double width = std::max(static_cast<double>(end - begin) / ratio_, shortest_underline);
            painter.fillRect(
                QRectF(bar.left() + static_cast<double>(begin) / ratio_, bar.bottom() - underline, width, underline),
                scene_->theme.selection);
        }
    }
}

void SegmentPainter::paint_marks(QPainter& painter) const {
    const Session& session = *scene_->session;
    if (const auto selected = find_block(*scene_->state, session.device(), session.selection().state().allocation)) {
        mark_block(painter, *selected, QPen(scene_->theme.selection, 2.5), true);
    }
    if (scene_->hovered) {
        mark_block(painter, *scene_->hovered, QPen(scene_->theme.text, 1), false);
    }
    if (scene_->focused) {
        mark_block(painter, *scene_->focused, QPen(scene_->theme.text, 1.5, Qt::DotLine), false);
    }
}

void SegmentPainter::mark_block(QPainter& painter, BlockRef ref, const QPen& pen, bool strong) const {
    const auto placed = scene_->layout->placed_of(ref.segment);
    if (!placed || ref.block >= scene_->state->segments[ref.segment].blocks.size()) {
        return;
    }
    const SegmentState& segment = scene_->state->segments[ref.segment];
    const Block& block = segment.blocks[ref.block];
    const double from = static_cast<double>(block.address - segment.address);
    painter.setBrush(Qt::NoBrush);
    const auto rects = scene_->layout->pieces(scene_->layout->segments()[*placed], from,
                                              from + static_cast<double>(block.size), strong ? 5 : 3, visible_);
    for (const QRectF& rect : rects) {
        if (strong) {
            painter.setPen(QPen(scene_->theme.plot_background, 5));
            painter.drawRect(rect.adjusted(-2, -2, 2, 2));
        }
        painter.setPen(pen);
        painter.drawRect(strong ? rect.adjusted(-2, -2, 2, 2) : rect.adjusted(0.5, 0.5, -0.5, -0.5));
    }
    if (strong && !rects.empty() && rects.front().width() < 24) {
        // A narrow outline gets a pointer from above, to be visible.
        const QPointF tip(rects.front().center().x(), rects.front().top() - 2);
        painter.setPen(Qt::NoPen);
        painter.setBrush(scene_->theme.selection);
        const QPointF triangle[3] = {tip, tip + QPointF(-6, -8), tip + QPointF(6, -8)};
        painter.drawConvexPolygon(triangle, 3);
    }
}

}  // namespace tidemark::gui
