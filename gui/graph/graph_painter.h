// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Draws a graph picture: frames, links, boxes, saved tensors beside them, and the legend. Text has a smallest size:
// what has no room for it becomes a shape in a box that has a text (see graph_detail.h).
#pragma once

#include <QPainter>

#include "gui/graph/graph_detail.h"
#include "gui/graph/graph_picture.h"
#include "gui/model/palette.h"

namespace tidemark::gui {

enum class GraphColors : uint8_t { state, bytes, age };

/// A saved tensor drawn beside its node.
struct GraphPort {
    uint32_t saved = 0;  ///< position in SavedTensors
    QRectF rect;         ///< scene units
    bool retained = false;
};
/// Returns the largest saved tensors of a box that is a node; empty for others.
std::vector<GraphPort> ports_of(const GraphPicture& picture, const GraphBox& box);

/// The place of a scene on the screen: screen = scene * scale + offset.
struct GraphPlace {
    double scale = 1;
    QPointF offset;
    QPointF to_scene(QPointF screen) const { return (screen - offset) / scale; }
    QPointF to_screen(QPointF scene) const { return scene * scale + offset; }
    QRectF to_screen(const QRectF& scene) const { return {to_screen(scene.topLeft()), scene.size() * scale}; }
};

class GraphPainter {
public:
    GraphPainter(const QFont& font, Theme theme);

    /// Makes the texts of the boxes, once per picture.
    void set_picture(std::shared_ptr<const GraphPicture> picture);
    void set_colors(GraphColors by) { colors_ = by; }
    GraphColors colors() const { return colors_; }
    /// Returns what is drawn of the picture at a scale.
    GraphDetail detail(double scale) const;

    struct Look {
        GraphPlace place;
        QRectF area;  ///< of the screen; nothing outside is painted
        const GraphMarks* marks = nullptr;
        int hovered = -1, focused = -1;           ///< boxes
        const std::vector<int>* found = nullptr;  ///< boxes a search found
    };
    void paint(QPainter& painter, const Look& look) const;
    /// A small `view` has a short legend.
    void paint_legend(QPainter& painter, QSizeF view) const;
    int legend_height(QSizeF view) const;
    /// Returns title and figures of a box, for tooltips and screen readers.
    QString describe(int box) const;
    QString describe(const GraphPort& port) const;
    const QString& title(int box) const { return texts_[static_cast<size_t>(box)].title; }
    /// Returns the retained size of a box as the drawing shows it; empty if nothing is retained.
    const QString& retained(int box) const { return texts_[static_cast<size_t>(box)].bytes; }

    /// Text drawn with a background of its own, over boxes.
    struct Label {
        QRectF rect;
        QString text;
        bool of_selection = false;  ///< otherwise the title of a frame
    };
    /// Returns the labels of a drawing; none overlaps another.
    std::vector<Label> labels(const Look& look) const;
    /// Returns the color of the title of a box, and of its other text.
    QColor title_color(bool dim) const { return dim ? theme_.faint_text : theme_.text; }
    QColor text_color(bool dim) const;
    QColor fill_color(const QColor& state, bool dim) const;

private:
    struct Span {
        double low = 0, high = 1;
    };
    /// `place`: of a node, its module and line; of a group, the number of its nodes. `second_place`: type and line that
    /// similar graphs share.
    struct BoxText {
        QString title, bytes, place, second_place;
        Qt::TextElideMode title_elide = Qt::ElideMiddle;
    };
    struct Pass;  ///< what one paint() computes for all boxes
    BoxText text_of(const GraphBox& box) const;
    QColor color_of(const GraphBox& box) const;
    double age_of(const GraphBox& box) const;
    Pass make_pass(const Look& look) const;
    void paint_frame(QPainter& painter, const Pass& pass, int box) const;
    void paint_links(QPainter& painter, const Pass& pass) const;
    void paint_box(QPainter& painter, const Pass& pass, int box) const;
    void paint_title(QPainter& painter, const Pass& pass, int box, const QRectF& rect) const;
    void paint_text(QPainter& painter, const Pass& pass, int box, const QRectF& rect) const;
    void paint_box_title(QPainter& painter, const Pass& pass, int box, QRectF at, bool alone) const;
    static QString fitting_title(const QFontMetricsF& metrics, const BoxText& texts, double width);
    void paint_figures(QPainter& painter, const Pass& pass, int box, QRectF at) const;
    static void write(QPainter& painter, const Pass& pass, const QRectF& at, const QString& text, Qt::Alignment align);
    void paint_ports(QPainter& painter, const Pass& pass, int box) const;
    void paint_outline(QPainter& painter, const Pass& pass, int box, const QRectF& rect) const;
    void paint_labels(QPainter& painter, const Pass& pass) const;
    void add_labels(Pass& pass) const;
    QString selection_text(const Pass& pass, int box) const;
    QFont sized(bool bold, double scale) const;
    double least_line() const;

    struct LegendEntry;
    std::vector<LegendEntry> legend_entries(QSizeF view) const;
    double width_of(const LegendEntry& entry) const;
    int legend_line() const;
    void paint_entry(QPainter& painter, QPointF at, double right, const LegendEntry& entry) const;

    QFont font_, bold_;
    Theme theme_;
    std::shared_ptr<const GraphPicture> picture_;
    GraphColors colors_ = GraphColors::state;
    std::vector<BoxText> texts_;  ///< of each box
    Span ages_;
};

/// Returns the state that a box shows: that of the nodes in it which matter most.
NodeState shown_state(const GroupTotals& totals);
/// Paints the mark of a state, which differs by shape: full, half full (executed, but it still retains), empty.
void paint_state(QPainter& painter, const QRectF& rect, NodeState state, const QColor& color);

}  // namespace tidemark::gui
