// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The scrolling part of the segment map: paints a memory state, handles mouse and keys, changes the selection.
#pragma once

#include <QAbstractScrollArea>
#include <QPointer>
#include <QScrollBar>

#include "gui/segments/segment_painter.h"

namespace tidemark::gui {

class SegmentCanvas : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit SegmentCanvas(QWidget* parent = nullptr);

    void set_session(Session* session);
    /// `reference` is the state of the device at its peak of reserved memory. It sets the scale of the bars, so that
    /// they do not change while the cursor moves.
    void set_reference(std::shared_ptr<const MemoryState> reference);
    void set_state(std::shared_ptr<const MemoryState> state);
    void set_colors(MapColors by);
    void set_order(SegmentOrder order);
    void set_same_width(bool on);
    /// Sets a text that is shown instead of a map.
    void set_note(const QString& note);

    MapColors colors() const { return color_by_; }
    double bytes_per_pixel() const { return layout_.options().bytes_per_pixel; }
    const SegmentLayout& placement() const { return layout_; }
    int visible_top() const { return verticalScrollBar()->value(); }
    std::optional<BlockRef> focused_block() const { return focused_; }

    void zoom_by(double factor);  ///< above 1 zooms in, around the middle
    void fit();                   ///< the whole device at the common scale
    void zoom_to_segment(uint32_t state_index);
    /// Zooms until the block is visible and marks it.
    void zoom_to_block(BlockRef block);
    /// Scrolls as little as needed.
    void ensure_visible(BlockRef block);
    bool is_visible(BlockRef block) const;
    /// Paints the whole map, fitted into `size`, with the painter's origin at its top left.
    /// Returns its scale in bytes per pixel, 0 if the bars have no common one.
    double render_to(QPainter& painter, QSize size);

signals:
    void scale_changed(double bytes_per_pixel);
    void focus_moved(const QString& description);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    enum class Zoom { fitted, free };

    LayoutOptions base_options(QSizeF area) const;
    void arrange();
    void zoom_at(double factor, QPointF point);
    void set_scale(double bytes_per_pixel, double zoom);
    QPointF to_map(QPointF viewport_point) const;
    void find_selected_stack();
    QRect visible_area() const;
    std::optional<BlockRef> block_near(QPointF map_point) const;
    void select(BlockRef block);
    void move_focus(int step);
    void move_focus_vertically(int lines);
    void set_focus_block(BlockRef block);
    std::optional<BlockRef> first_visible_block() const;
    void show_tip(QPoint global, BlockRef block);
    MapScene scene(const SegmentLayout& layout) const;
    static constexpr int margin = 10;

    void scroll_to(int top, int bottom);

    QPointer<Session> session_;
    std::shared_ptr<const MemoryState> state_, reference_;
    SegmentLayout layout_;
    SegmentPainter painter_;
    MapColors color_by_ = MapColors::group;
    bool has_selected_stack_ = false;  ///< the state
    SegmentOrder order_ = SegmentOrder::age;
    bool same_width_ = false;
    Zoom zoom_mode_ = Zoom::fitted;
    LayoutOptions fitted_;
    bool refit_ = true;  ///< fitted_ is out of date
    double bytes_per_pixel_ = 4096, zoom_ = 1;
    QString note_;
    std::optional<BlockRef> hovered_, focused_;
    uint64_t focus_address_ = 0;
    std::optional<QPoint> drag_from_;
    int drag_scroll_ = 0;
    bool dragging_ = false;
};

}  // namespace tidemark::gui
