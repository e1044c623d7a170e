// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Draws a graph picture: frames, links, boxes, saved tensors beside them, and the legend.
#pragma once

#include <QPainter>

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

    struct Look {
        GraphPlace place;
        QRectF area;  ///< of the screen; nothing outside is painted
        const GraphMarks* marks = nullptr;
        int hovered = -1, focused = -1;           ///< boxes
        const std::vector<int>* found = nullptr;  ///< boxes a search found
    };
    void paint(QPainter& painter, const Look& look) const;
    void paint_legend(QPainter& painter, const QRectF& area) const;
    int legend_height(double width) const;
    /// Returns title and figures of a box, for tooltips and screen readers.
    QString describe(int box) const;
    QString describe(const GraphPort& port) const;
    const QString& title(int box) const { return titles_[static_cast<size_t>(box)]; }

private:
    struct Span {
        double low = 0, high = 1;
    };
    QColor color_of(const GraphBox& box) const;
    QColor state_color(const GroupTotals& totals) const;
    double age_of(const GraphBox& box) const;
    void paint_frame(QPainter& painter, const Look& look, int box) const;
    void paint_links(QPainter& painter, const Look& look) const;
    void paint_box(QPainter& painter, const Look& look, int box) const;
    void paint_text(QPainter& painter, const QRectF& rect, int box, double scale, bool lit) const;
    void paint_ports(QPainter& painter, const Look& look, const GraphBox& box) const;
    void paint_outline(QPainter& painter, const Look& look, int box, const QRectF& rect) const;
    struct LegendEntry;
    std::vector<LegendEntry> legend_entries() const;
    double width_of(const LegendEntry& entry) const;
    int legend_line() const;
    void paint_entry(QPainter& painter, QPointF at, double right, const LegendEntry& entry) const;
    bool dimmed(const Look& look, int box) const;

    QFont font_, bold_;
    Theme theme_;
    std::shared_ptr<const GraphPicture> picture_;
    GraphColors colors_ = GraphColors::state;
    std::vector<QString> titles_, figures_, places_;  ///< of each box; places: type and line that similar graphs share
    Span ages_;
};

}  // namespace tidemark::gui
