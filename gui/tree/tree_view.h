// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The picture of a call tree: an icicle or a treemap that zooms into boxes and is walked with keys.
#pragma once

#include <QAbstractScrollArea>
#include <QPointer>

#include "gui/model/session.h"
#include "gui/tree/frame_text.h"
#include "gui/tree/shown_tree.h"
#include "gui/tree/tree_layout.h"
#include "gui/widgets/hover_tip.h"

namespace tidemark::gui {

/// Thread: GUI. Highlights the allocations under the pointer in the other panes (Selection::hovered); changes nothing
/// else of the session.
class TreeView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit TreeView(QWidget* parent = nullptr);

    /// `session` may be null and must outlive its use here. Forgets the tree.
    void set_session(Session* session);
    /// Shows another tree of the same run, not null. The zoom and the focus stay on their frames as far as these exist.
    void set_tree(std::shared_ptr<const ShownTree> shown);
    const std::shared_ptr<const ShownTree>& shown() const { return shown_; }
    void set_shape(TreeShape shape);
    /// Sets a text that is shown instead of a tree without allocations.
    void set_note(const QString& note);
    const QString& note() const { return note_; }

    /// Highlights the frames that contain a text, and pales the others; an empty text ends the search.
    void set_search(const QString& text);
    const FoundFrames& found() const { return found_; }
    /// Moves the focus to the next found frame that is wide enough to be seen; behind the last one to the first.
    void focus_next_found();

    uint32_t zoomed() const { return zooms_.empty() ? CallTree::root : zooms_.back(); }
    uint32_t focused() const { return focused_; }
    void zoom_to(uint32_t node);
    void zoom_out();  ///< to where the last zoom began
    void show_whole();
    /// Returns the place of a node's box in the viewport; empty if it has none.
    QRectF box_rect(uint32_t node) const;

    QSize sizeHint() const override { return {640, 320}; }

signals:
    void zoom_changed();
    void search_requested();

protected:
    bool event(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    const CallTree& tree() const { return shown_->tree; }
    bool has_boxes() const { return shown_ && !shown_->tree.is_empty(); }
    void arrange();
    void changed_zoom();
    int row_height() const;
    int scrolled() const;
    QRectF rect_of(const TreeBox& box) const;  ///< in the viewport
    std::optional<TreeBox> box_under(QPointF point) const;
    void paint_box(QPainter& painter, const Theme& theme, const TreeBox& box, const QRectF& rect) const;
    void paint_text(QPainter& painter, const TreeBox& box, const QRectF& rect) const;
    void paint_focus(QPainter& painter, const Theme& theme) const;
    bool is_paled(const TreeBox& box) const;
    void hover(const std::optional<TreeBox>& box);
    void show_tip(QPoint point);
    void set_focused(uint32_t node);
    uint32_t next_focused(int key) const;
    uint32_t neighbor(int step) const;
    uint32_t child_in_view() const;
    uint32_t parent_in_view() const;
    void scroll_to_focused();  ///< as little as needed

    QPointer<Session> session_;
    std::shared_ptr<const ShownTree> shown_;
    QString note_;
    QString search_;
    FoundFrames found_;
    TreeShape shape_ = TreeShape::icicle;
    TreeLayout layout_;
    std::vector<uint32_t> zooms_;  ///< nodes zoomed into, each inside of the one before; empty: the whole
    uint32_t focused_ = CallTree::root;
    std::optional<TreeBox> hovered_;
    std::optional<TreeBox> pressed_;
    QPointer<HoverTip> tip_;
};

}  // namespace tidemark::gui
