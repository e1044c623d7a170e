// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Paints the legend of the graph picture.
#include "gui/graph/graph_box_text.h"
#include "gui/graph/graph_painter.h"
#include "gui/model/graph_text.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {
constexpr double legend_margin = 10, legend_gap = 16;  // pixels
constexpr int legend_ramp = 90;
constexpr double swatch = 11;
constexpr QSizeF least_for_all(420, 320);  // of a view that shows more than states and colors
}  // namespace

struct GraphPainter::LegendEntry {
    QString text;
    QBrush brush = Qt::NoBrush;
    QString low = {};  ///< of a scale, whose high end is the text
    bool scale = false, plain = false;
    std::optional<NodeState> state = {};  ///< its mark instead of a colored square
};

std::vector<GraphPainter::LegendEntry> GraphPainter::legend_entries(QSizeF view) const {
    std::vector<LegendEntry> entries;
    for (const NodeState state : {NodeState::never_executed, NodeState::executed, NodeState::released}) {
        const QColor color = colors_ == GraphColors::state ? node_state_color(theme_, state) : theme_.text;
        entries.push_back({state_text(state), color, {}, false, false, state});
    }
    if (colors_ == GraphColors::age) {
        entries.push_back({GraphMap::tr("newest"), {}, GraphMap::tr("oldest"), true});
    } else if (colors_ == GraphColors::bytes) {
        const auto most = static_cast<uint64_t>(picture_ ? picture_->scene->most_bytes : 0);
        entries.push_back({GraphMap::tr("%1").arg(bytes_text(most)), {}, GraphMap::tr("shallow size: small"), true});
    }
    entries.push_back({GraphMap::tr("saved tensor"), category_color(theme_, Category::saved)});
    entries.push_back({GraphMap::tr("released saved tensor")});
    if (view.height() < least_for_all.height() || view.width() < least_for_all.width()) {
        return entries;
    }
    entries.push_back({GraphMap::tr("bytes: retained size"), {}, {}, false, true});
    entries.push_back({GraphMap::tr("bar: shallow size"), {}, {}, false, true});
    entries.push_back({GraphMap::tr("arrow: to a node that is retained"), {}, {}, false, true});
    return entries;
}

double GraphPainter::width_of(const LegendEntry& entry) const {
    const QFontMetricsF metrics(font_);
    const double mark = entry.scale   ? metrics.horizontalAdvance(entry.low) + legend_ramp + 12
                        : entry.plain ? 0
                                      : swatch + 5;
    return mark + metrics.horizontalAdvance(entry.text) + legend_gap;
}

/// Returns the height of as many lines as show every entry in full.
int GraphPainter::legend_height(QSizeF view) const {
    int lines = 1;
    double x = legend_margin;
    for (const LegendEntry& entry : legend_entries(view)) {
        const double wide = width_of(entry);
        if (x > legend_margin && x + wide - legend_gap > view.width()) {
            ++lines;
            x = legend_margin;
        }
        x += wide;
    }
    return lines * legend_line() + 4;
}

int GraphPainter::legend_line() const { return static_cast<int>(QFontMetricsF(font_).height()) + 4; }

/// Elides an entry that is wider than a whole line.
void GraphPainter::paint_entry(QPainter& painter, QPointF at, double right, const LegendEntry& entry) const {
    const auto write = [&](double x, const QString& text, const QColor& color) {
        painter.setPen(color);
        const QFontMetricsF metrics(font_);
        const QString shown = metrics.elidedText(text, Qt::ElideRight, right - x);
        const double width = metrics.horizontalAdvance(shown);
        painter.drawText(QRectF(x, at.y() - 20, width + 4, 40), Qt::AlignVCenter, shown);
        return x + width;
    };
    if (entry.scale) {
        const double ramp = write(at.x(), entry.low, theme_.text) + 6;
        for (int x = 0; x < legend_ramp; ++x) {
            painter.fillRect(QRectF(ramp + x, at.y() - swatch / 2, 1, swatch),
                             scale_color(theme_, x / (legend_ramp - 1.0)));
        }
        write(ramp + legend_ramp + 6, entry.text, theme_.text);
    } else if (entry.state) {
        paint_state(painter, QRectF(at.x(), at.y() - swatch / 2, swatch, swatch), *entry.state, entry.brush.color());
        write(at.x() + swatch + 5, entry.text, theme_.text);
    } else if (entry.plain) {
        write(at.x(), entry.text, theme_.faint_text);
    } else {
        painter.setPen(QPen(theme_.faint_text, 1));
        painter.setBrush(entry.brush);
        painter.drawRect(QRectF(at.x(), at.y() - swatch / 2, swatch, swatch));
        write(at.x() + swatch + 5, entry.text, theme_.text);
    }
}

void GraphPainter::paint_legend(QPainter& painter, QSizeF view) const {
    const double height = legend_height(view);
    const QRectF area(0, view.height() - height, view.width(), height);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(area, theme_.plot_background);
    painter.setFont(font_);
    QPointF at(area.left() + legend_margin, area.top() + 2 + legend_line() / 2.0);
    for (const LegendEntry& entry : legend_entries(view)) {
        const double wide = width_of(entry);
        if (at.x() > area.left() + legend_margin && at.x() + wide - legend_gap > area.right()) {
            at = QPointF(area.left() + legend_margin, at.y() + legend_line());
        }
        paint_entry(painter, at, area.right(), entry);
        at.setX(at.x() + wide);
    }
}

}  // namespace tidemark::gui
