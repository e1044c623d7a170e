// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/tree/icicle_view.h"

#include <QEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>

#include "gui/model/text.h"

namespace tidemark::gui {

namespace {
constexpr int row_padding = 6;         // pixels
constexpr int text_margin = 5;         // pixels
constexpr double narrowest_text = 26;  // pixels: a letter and the ellipsis
constexpr int ancestors_in_view = 2;   // rows above a zoomed frame that stay visible
constexpr double paleness_of_rest = 0.8;
constexpr double paleness_beside_found = 0.78;
constexpr double paleness_of_ancestors = 0.5;  // their width is not their bytes
}  // namespace

IcicleView::IcicleView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    // Always: if the bar came and went, the width of the boxes would change with their depth.
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    viewport()->setMouseTracking(true);
    setMinimumSize(200, 80);
    setAccessibleName(tr("Memory by call stack"));
}

void IcicleView::set_session(Session* session) {
    hover(std::nullopt);
    session_ = session;
    shown_.reset();
    zooms_.clear();
    focused_ = CallTree::root;
    found_ = {};
    arrange();
}

void IcicleView::set_tree(std::shared_ptr<const ShownTree> shown) {
    hover(std::nullopt);
    pressed_.reset();
    const std::shared_ptr<const ShownTree> before = std::exchange(shown_, std::move(shown));
    if (before) {
        const std::vector<uint32_t> zooms = std::exchange(zooms_, {});
        for (const uint32_t zoom : zooms) {
            const uint32_t place = same_place(before->tree, zoom, tree());
            if (place != zoomed()) {
                zooms_.push_back(place);
            }
        }
    }
    set_focused(before ? same_place(before->tree, focused_, tree()) : CallTree::root);
    found_ = find_frames(*shown_, search_);
    arrange();
    emit zoom_changed();
}

void IcicleView::set_note(const QString& note) {
    note_ = note;
    viewport()->update();
}

void IcicleView::set_search(const QString& text) {
    search_ = text;
    found_ = shown_ ? find_frames(*shown_, search_) : FoundFrames();
    viewport()->update();
}

// --- Place ------------------------------------------------------------------------------------------------------

int IcicleView::row_height() const { return fontMetrics().height() + row_padding; }
int IcicleView::scrolled() const { return verticalScrollBar()->value(); }

void IcicleView::arrange() {
    layout_ = has_boxes() ? IcicleLayout(tree(), zoomed(), viewport()->width()) : IcicleLayout();
    verticalScrollBar()->setSingleStep(row_height());
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setRange(0, std::max(0, layout_.row_count() * row_height() - viewport()->height()));
    viewport()->update();
}

void IcicleView::zoom_to(uint32_t node) {
    if (!has_boxes() || node == zoomed()) {
        return;
    }
    const auto is_around = [&](uint32_t zoom) { return zoom < node && node < tree().node(zoom).end; };
    while (!zooms_.empty() && !is_around(zooms_.back())) {
        zooms_.pop_back();
    }
    if (node != CallTree::root) {
        zooms_.push_back(node);
    }
    set_focused(node);
    changed_zoom();
}

void IcicleView::zoom_out() {
    if (!zooms_.empty()) {
        zooms_.pop_back();
        changed_zoom();
        scroll_to_focused();
    }
}

void IcicleView::show_whole() {
    if (!zooms_.empty()) {
        zooms_.clear();
        changed_zoom();
    }
}

void IcicleView::changed_zoom() {
    hover(std::nullopt);
    arrange();
    const int row = static_cast<int>(tree().node(zoomed()).depth) - ancestors_in_view;
    verticalScrollBar()->setValue(std::max(row, 0) * row_height());
    emit zoom_changed();
}

QRectF IcicleView::rect_of(int row, const IcicleBox& box) const {
    return {box.left, static_cast<double>(row * row_height() - scrolled()), box.right - box.left,
            static_cast<double>(row_height())};
}

QRectF IcicleView::box_rect(uint32_t node) const {
    const auto box = has_boxes() ? layout_.box_of(tree(), node) : std::nullopt;
    return box ? rect_of(static_cast<int>(tree().node(node).depth), *box) : QRectF();
}

std::optional<IcicleBox> IcicleView::box_under(QPointF point) const {
    return layout_.box_at(static_cast<int>(point.y() + scrolled()) / row_height(), point.x());
}

void IcicleView::scroll_to_focused() {
    const int top = static_cast<int>(tree().node(focused_).depth) * row_height(),
              bottom = top + row_height() - viewport()->height();
    verticalScrollBar()->setValue(std::clamp(scrolled(), bottom, std::max(top, bottom)));
}

// --- Painting ---------------------------------------------------------------------------------------------------

void IcicleView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    const Theme theme = Theme::current();
    painter.fillRect(viewport()->rect(), theme.plot_background);
    if (!has_boxes()) {
        painter.setPen(theme.faint_text);
        painter.drawText(viewport()->rect().adjusted(24, 8, -24, -8), Qt::AlignCenter | Qt::TextWordWrap, note_);
        return;
    }
    const int first = scrolled() / row_height();
    const int last = std::min(layout_.row_count() - 1, (scrolled() + viewport()->height()) / row_height());
    for (int r = first; r <= last; ++r) {
        for (const IcicleBox& box : layout_.row(r)) {
            paint_box(painter, theme, box, rect_of(r, box));
        }
    }
    paint_focus(painter, theme);
}

bool IcicleView::is_paled(const IcicleBox& box) const {
    return !found_.is_found.empty() && (box.is_rest || !found_.is_found[box.node]);
}

void IcicleView::paint_box(QPainter& painter, const Theme& theme, const IcicleBox& box, const QRectF& rect) const {
    QColor color = box.is_rest ? mixed(theme.unknown, theme.plot_background, paleness_of_rest)
                               : node_color(theme, *shown_, box.node);
    const bool paled = is_paled(box);
    if (paled) {
        color = mixed(color, theme.plot_background, paleness_beside_found);
    } else if (box.node < zoomed() && tree().node(box.node).kind == CallNodeKind::frame) {
        color = mixed(color, theme.plot_background, paleness_of_ancestors);
    }
    if (hovered_ && hovered_->node == box.node && hovered_->is_rest == box.is_rest) {
        color = mixed(color, theme.text, 0.18);
    }
    // One pixel of background separates boxes; a narrow one keeps most of its width.
    const QRectF inside = rect.adjusted(0, 0, rect.width() > 2 ? -1 : 0, -1);
    if (!box.is_rest && is_hatched(tree().node(box.node))) {
        painter.fillRect(inside, mixed(color, theme.plot_background, paleness_of_rest));
        painter.fillRect(inside, QBrush(mixed(color, theme.plot_background, 0.4), Qt::BDiagPattern));
        color = mixed(color, theme.plot_background, paleness_of_rest);
    } else {
        painter.fillRect(inside, color);
    }
    if (!box.is_rest && rect.width() >= narrowest_text) {
        const QColor text = text_color_on(color);
        painter.setPen(paled ? mixed(text, color, 0.45) : text);
        paint_text(painter, box.node, inside.adjusted(text_margin, 0, -text_margin, 0));
    }
}

/// Paints the frame at the left, and its bytes at the right where there is room for both.
void IcicleView::paint_text(QPainter& painter, uint32_t node, const QRectF& rect) const {
    const QFontMetrics metrics(painter.font());
    const QString text = node_text(*shown_, node);
    const QString bytes = bytes_text(tree().node(node).total);
    const int bytes_width = metrics.horizontalAdvance(bytes);
    painter.drawText(rect, Qt::AlignLeft | Qt::AlignVCenter,
                     elided_frame(metrics, text, static_cast<int>(rect.width())));
    if (metrics.horizontalAdvance(text) + bytes_width + 3 * text_margin < rect.width()) {
        painter.drawText(rect, Qt::AlignRight | Qt::AlignVCenter, bytes);
    }
}

void IcicleView::paint_focus(QPainter& painter, const Theme& theme) const {
    const QRectF rect = box_rect(focused_);
    if (hasFocus() && !rect.isEmpty()) {
        painter.setPen(QPen(theme.selection, 2));
        painter.drawRect(rect.adjusted(1, 1, -2, -2));
    }
}

void IcicleView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    arrange();
}

void IcicleView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        arrange();
    }
}

}  // namespace tidemark::gui
