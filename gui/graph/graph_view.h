// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The drawing of the graph: zoom with the wheel, drag to move, open and close groups, select nodes.
#pragma once

#include <QPointer>
#include <QWidget>

#include "gui/graph/graph_painter.h"
#include "gui/model/session.h"

namespace tidemark::gui {

class GraphView : public QWidget {
    Q_OBJECT
public:
    explicit GraphView(QWidget* parent = nullptr);

    void set_session(Session* session);
    /// With `keep_place` the group opened or closed last, or else the whole drawing, does not move on the screen.
    void set_picture(std::shared_ptr<const GraphPicture> picture, bool keep_place);
    const std::shared_ptr<const GraphPicture>& picture() const { return picture_; }
    void set_colors(GraphColors by);
    /// Marks boxes that contain one of these nodes and shows the first; empty: no search.
    void show_found(const std::vector<NodeIndex>& nodes);

    BoxMetrics metrics() const;
    const GraphPlace& place() const { return place_; }
    const GraphMarks& marks() const { return marks_; }
    int focused() const { return focused_; }
    void zoom_by(double factor);  ///< around the middle
    void fit();                   ///< shows everything; a very tall drawing stays readable and shows its top
    /// Whether fit() never makes the drawing wider than the view: nobody can scroll a picture.
    void show_whole_width(bool on) { shows_whole_width_ = on; }
    void reveal(int box);  ///< scrolls as little as needed
    /// Shows the path to the selection: all of it if its text stays readable, or else its end.
    void reveal_marks();
    QSize sizeHint() const override { return {640, 420}; }

signals:
    void open_requested(uint64_t key);
    void close_requested(uint64_t key);
    void search_requested();

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    const GraphScene& scene() const { return *picture_->scene; }
    static constexpr double margin = 12;  ///< of the view, around what it shows; pixels
    const GraphBox& box(int b) const { return scene().boxes[static_cast<size_t>(b)]; }
    QRectF drawing_area() const;
    GraphPlace fitted(QSizeF area) const;
    double least_scale() const;
    void zoom_at(double factor, QPointF point);
    void zoom_into(int box);
    void update_marks();
    void hover(int box);
    void select(int box);
    void toggle(int box);
    void close_around(int box);
    void move_focus(int key);
    int topmost() const;
    int neighbor(int from, QPointF direction) const;
    std::optional<GraphPort> port_at(QPointF point) const;
    int box_under(QPointF point) const;
    GraphPainter::Look look(const GraphPlace& place, const QRectF& area) const;

    QPointer<Session> session_;
    std::shared_ptr<const GraphPicture> picture_;
    GraphPainter painter_;
    GraphPlace place_;
    GraphMarks marks_;
    std::vector<int> found_;
    std::vector<NodeIndex> found_nodes_;
    int hovered_ = -1, focused_ = -1;
    bool shows_whole_width_ = false;
    bool fitted_ = true;                                  ///< neither zoomed nor moved since fit()
    bool shows_marks_ = false;                            ///< the same since reveal_marks()
    std::optional<std::pair<uint64_t, QPointF>> anchor_;  ///< key of a box, and the place for its corner
    QPointF pressed_at_, offset_at_press_;
    bool dragging_ = false;
};

}  // namespace tidemark::gui
