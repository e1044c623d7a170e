// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/tree/tree_view.h"

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
constexpr double paleness_of_containers = 0.6;  // their children are drawn on them
constexpr double paleness_of_ancestors = 0.5;   // their width is not their bytes
}  // namespace

TreeView::TreeView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    // Always: if the bar came and went, the width of the boxes would change with their depth.
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    viewport()->setMouseTracking(true);
    setMinimumSize(200, 80);
    setAccessibleName(tr("Memory by call stack"));
}

void TreeView::set_session(Session* session) {
    hover(std::nullopt);
    session_ = session;
    shown_.reset();
    zooms_.clear();
    focused_ = CallTree::root;
    found_ = {};
    arrange();
}

void TreeView::set_tree(std::shared_ptr<const ShownTree> shown) {
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

void TreeView::set_shape(TreeShape shape) {
    shape_ = shape;
    hover(std::nullopt);
    arrange();
}

void TreeView::set_note(const QString& note) {
    note_ = note;
    viewport()->update();
}

void TreeView::set_search(const QString& text) {
    search_ = text;
    found_ = shown_ ? find_frames(*shown_, search_) : FoundFrames();
    viewport()->update();
}

// --- Place ------------------------------------------------------------------------------------------------------

int TreeView::row_height() const { return fontMetrics().height() + row_padding; }
int TreeView::scrolled() const { return verticalScrollBar()->value(); }

void TreeView::arrange() {
    layout_ = !has_boxes()                  ? TreeLayout()
              : shape_ == TreeShape::icicle ? TreeLayout::icicle(tree(), zoomed(), viewport()->width(), row_height())
                                            : TreeLayout::treemap(tree(), zoomed(), viewport()->size(), row_height());
    verticalScrollBar()->setSingleStep(row_height());
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(layout_.height()) - viewport()->height()));
    viewport()->update();
}

void TreeView::zoom_to(uint32_t node) {
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

void TreeView::zoom_out() {
    if (!zooms_.empty()) {
        zooms_.pop_back();
        changed_zoom();
        scroll_to_focused();
    }
}

void TreeView::show_whole() {
    if (!zooms_.empty()) {
        zooms_.clear();
        changed_zoom();
    }
}

void TreeView::changed_zoom() {
    hover(std::nullopt);
    arrange();
    verticalScrollBar()->setValue(static_cast<int>(layout_.box_of(zoomed())->rect.top()) -
                                  ancestors_in_view * row_height());
    emit zoom_changed();
}

QRectF TreeView::rect_of(const TreeBox& box) const { return box.rect.translated(0, -scrolled()); }

QRectF TreeView::box_rect(uint32_t node) const {
    const auto box = has_boxes() ? layout_.box_of(node) : std::nullopt;
    return box ? rect_of(*box) : QRectF();
}

std::optional<TreeBox> TreeView::box_under(QPointF point) const {
    return layout_.box_at(point + QPointF(0, scrolled()));
}

void TreeView::scroll_to_focused() {
    if (const auto box = layout_.box_of(focused_)) {
        const int top = static_cast<int>(box->rect.top()),
                  bottom = static_cast<int>(box->rect.bottom()) - viewport()->height();
        verticalScrollBar()->setValue(std::clamp(scrolled(), std::min(top, bottom), std::max(top, bottom)));
    }
}

// --- Painting ---------------------------------------------------------------------------------------------------

void TreeView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    const Theme theme = Theme::current();
    painter.fillRect(viewport()->rect(), theme.plot_background);
    if (!has_boxes()) {
        painter.setPen(theme.faint_text);
        painter.drawText(viewport()->rect().adjusted(24, 8, -24, -8), Qt::AlignCenter | Qt::TextWordWrap, note_);
        return;
    }
    const QRectF seen(viewport()->rect());
    for (const TreeBox& box : layout_.boxes()) {
        if (const QRectF rect = rect_of(box); rect.intersects(seen)) {
            paint_box(painter, theme, box, rect);
        }
    }
    paint_focus(painter, theme);
}

bool TreeView::is_paled(const TreeBox& box) const {
    if (found_.is_found.empty() || box.is_rest) {
        return !found_.is_found.empty();
    }
    uint32_t n = box.node;
    while (n != box.first && !found_.is_found[n]) {
        n = tree().node(n).parent;
    }
    return !found_.is_found[n];
}

void TreeView::paint_box(QPainter& painter, const Theme& theme, const TreeBox& box, const QRectF& rect) const {
    QColor color = box.is_rest ? mixed(theme.unknown, theme.plot_background, paleness_of_rest)
                               : node_color(theme, *shown_, box.node);
    const bool paled = is_paled(box);
    if (paled) {
        color = mixed(color, theme.plot_background, paleness_beside_found);
    } else if (shape_ == TreeShape::treemap && tree().node(box.node).end > box.node + 1) {
        color = mixed(color, theme.plot_background, paleness_of_containers);
    } else if (box.node < zoomed() && box.node != CallTree::root && !is_hatched(tree().node(box.node))) {
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
    if (!box.is_rest && rect.width() >= narrowest_text && rect.height() >= row_height() - 1) {
        const QColor text = text_color_on(color);
        painter.setPen(paled ? mixed(text, color, 0.45) : text);
        paint_text(
            painter, box,
            QRectF(inside.left() + text_margin, inside.top(), inside.width() - 2 * text_margin, row_height() - 1));
    }
}

/// Paints the frame at the left, and its bytes at the right where there is room for both.
void TreeView::paint_text(QPainter& painter, const TreeBox& box, const QRectF& rect) const {
    const QFontMetrics metrics(painter.font());
    const QString bytes = bytes_text(tree().node(box.node).total);
    const int bytes_width = metrics.horizontalAdvance(bytes);
    const QString text = path_text(*shown_, box.first, box.node, metrics,
                                   static_cast<int>(rect.width()) - bytes_width - 3 * text_margin);
    painter.drawText(rect, Qt::AlignLeft | Qt::AlignVCenter,
                     elided_frame(metrics, text, static_cast<int>(rect.width())));
    if (metrics.horizontalAdvance(text) + bytes_width + 3 * text_margin < rect.width()) {
        painter.drawText(rect, Qt::AlignRight | Qt::AlignVCenter, bytes);
    }
}

void TreeView::paint_focus(QPainter& painter, const Theme& theme) const {
    const QRectF rect = box_rect(focused_);
    if (hasFocus() && !rect.isEmpty()) {
        painter.setPen(QPen(theme.selection, 2));
        painter.drawRect(rect.adjusted(1, 1, -2, -2));
    }
}

void TreeView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    arrange();
}

void TreeView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        arrange();
    }
}

}  // namespace tidemark::gui
