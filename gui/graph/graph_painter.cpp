// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_painter.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/graph/graph_box_text.h"
#include "gui/model/graph_text.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

constexpr double smallest_text = 6.5;  // pixels of a line; smaller text is unreadable
constexpr size_t most_ports = 6;
constexpr double strip = 5;  // the colored edge of a box

/// Returns a smooth path through the points of a route.
QPainterPath path_of(const QPolygonF& route) {
    QPainterPath path(route.front());
    for (qsizetype i = 1; i < route.size(); ++i) {
        const QPointF a = route[i - 1], b = route[i];
        if (std::abs(a.x() - b.x()) < 0.5) {
            path.lineTo(b);
        } else {
            const double bend = (b.y() - a.y()) * 0.5;
            path.cubicTo(a + QPointF(0, bend), b - QPointF(0, bend), b);
        }
    }
    return path;
}

}  // namespace

std::vector<GraphPort> ports_of(const GraphPicture& picture, const GraphBox& box) {
    std::vector<GraphPort> ports;
    if (!box.is_node() || box.saved == 0) {
        return ports;
    }
    const SavedTensors& saved = picture.index().tables().saved;
    const bool retained = holds_saved(picture.index().state(box.node, picture.time_point->time()));
    const uint32_t first = saved.first[box.node], last = saved.first[box.node + 1];
    for (uint32_t s = first; s < last; ++s) {
        ports.push_back({s, {}, retained});
    }
    if (ports.size() > most_ports) {
        std::stable_sort(ports.begin(), ports.end(), [&](const GraphPort& a, const GraphPort& b) {
            return saved.bytes[a.saved] > saved.bytes[b.saved];
        });
        ports.resize(most_ports);
    }
    double x = box.rect.right() + 3;
    for (GraphPort& port : ports) {
        const double bits = std::log2(static_cast<double>(saved.bytes[port.saved]) + 1);
        const double side = std::clamp(bits / 30 * 12, 4.0, 12.0);
        port.rect = QRectF(x, box.rect.center().y() - side / 2, side, side);
        x += side + 3;
    }
    return ports;
}

GraphPainter::GraphPainter(const QFont& font, Theme theme) : font_(font), bold_(font), theme_(std::move(theme)) {
    bold_.setBold(true);
}

void GraphPainter::set_picture(std::shared_ptr<const GraphPicture> picture) {
    picture_ = std::move(picture);
    titles_.clear();
    figures_.clear();
    places_.clear();
    ages_ = {INFINITY, -INFINITY};
    if (!picture_) {
        return;
    }
    const GraphIndex& index = picture_->index();
    for (const GraphBox& box : picture_->scene->boxes) {
        titles_.push_back(box.is_node() ? node_text(index, box.node)
                                        : group_text(index, *picture_->outline, picture_->outline->group(box.group)));
        QStringList figures;
        const GroupTotals totals = picture_->totals(box);
        if (totals.shallow_bytes > 0) {
            figures << bytes_text(static_cast<uint64_t>(totals.shallow_bytes));
        }
        if (!box.is_node()) {
            figures << nodes_text(picture_->outline->group(box.group).node_count);
        } else if (index.is_leaf(box.node)) {
            figures << to_qstring(index.type(box.node));
        } else if (const QString line = line_text(index, box.node); !line.isEmpty()) {
            figures << line;
        }
        figures_.push_back(figures.join(QStringLiteral(" · ")));
        const bool of_graphs = !box.is_node() && picture_->outline->group(box.group).kind == GroupKind::graphs;
        places_.push_back(of_graphs ? place_text(index, box.node) : QString());
        ages_.low = std::min(ages_.low, age_of(box));
        ages_.high = std::max(ages_.high, age_of(box));
    }
}

double GraphPainter::age_of(const GraphBox& box) const {
    const GroupTotals totals = picture_->totals(box);
    if (totals.last_step >= 0) {
        return totals.last_step;
    }
    const int64_t created = picture_->index().tables().nodes.created[box.node];
    return created == before_recording ? 0 : static_cast<double>(created) / 1e9;
}

QColor GraphPainter::state_color(const GroupTotals& totals) const {
    // Nodes that still retain memory matter more than released ones.
    if (totals.executed > 0 && totals.never_executed > 0) {
        return mixed(node_state_color(theme_, NodeState::executed), node_state_color(theme_, NodeState::never_executed),
                     0.5);
    }
    return node_state_color(theme_, totals.executed > 0         ? NodeState::executed
                                    : totals.never_executed > 0 ? NodeState::never_executed
                                                                : NodeState::released);
}

QColor GraphPainter::color_of(const GraphBox& box) const {
    switch (colors_) {
        case GraphColors::state: return state_color(picture_->totals(box));
        case GraphColors::bytes: {
            const double most = static_cast<double>(std::max<int64_t>(picture_->scene->most_bytes, 1));
            return box.bytes == 0 ? theme_.unknown
                                  : scale_color(theme_, std::sqrt(static_cast<double>(box.bytes) / most));
        }
        case GraphColors::age:
            return scale_color(theme_, (age_of(box) - ages_.low) / std::max(ages_.high - ages_.low, 1e-9));
    }
    return theme_.unknown;
}

bool GraphPainter::dimmed(const Look& look, int box) const {
    return look.marks != nullptr && look.marks->any && look.marks->boxes[static_cast<size_t>(box)] == 0;
}

void GraphPainter::paint(QPainter& painter, const Look& look) const {
    painter.setRenderHint(QPainter::Antialiasing);
    const auto& boxes = picture_->scene->boxes;
    const auto visible = [&](int b) {
        return look.place.to_screen(boxes[static_cast<size_t>(b)].rect.adjusted(0, 0, 90, 0)).intersects(look.area);
    };
    for (int b = 0; b < static_cast<int>(boxes.size()); ++b) {
        if (boxes[static_cast<size_t>(b)].open && visible(b)) {
            paint_frame(painter, look, b);
        }
    }
    paint_links(painter, look);
    for (int b = 0; b < static_cast<int>(boxes.size()); ++b) {
        if (!boxes[static_cast<size_t>(b)].open && visible(b)) {
            paint_box(painter, look, b);
        }
    }
}

void GraphPainter::paint_frame(QPainter& painter, const Look& look, int b) const {
    const GraphBox& box = picture_->scene->boxes[static_cast<size_t>(b)];
    const QRectF rect = look.place.to_screen(box.rect);
    int depth = 0;
    for (int p = box.parent; p >= 0; p = picture_->scene->boxes[static_cast<size_t>(p)].parent) {
        ++depth;
    }
    painter.setPen(QPen(mixed(theme_.plot_background, theme_.faint_text, 0.45), 1));
    painter.setBrush(mixed(theme_.plot_background, theme_.faint_text, 0.06 + 0.05 * (depth % 3)));
    painter.drawRoundedRect(rect, 6, 6);
    const double line = QFontMetricsF(font_).height() * look.place.scale;
    if (line >= smallest_text) {
        QFont scaled = bold_;
        scaled.setPixelSize(std::max(static_cast<int>(line * 0.78), 1));
        painter.setFont(scaled);
        const QFontMetricsF metrics(scaled);
        const QRectF text(rect.left() + 8, rect.top() + 2, rect.width() - 16, line + 4);
        painter.setPen(theme_.text);
        const QString title =
            metrics.elidedText(QStringLiteral("−  ") + titles_[static_cast<size_t>(b)], Qt::ElideMiddle, text.width());
        painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft, title);
        scaled.setBold(false);
        painter.setFont(scaled);
        painter.setPen(theme_.faint_text);
        const double used = metrics.horizontalAdvance(title) + 14;
        const QString figures = QFontMetricsF(scaled).elidedText(figures_[static_cast<size_t>(b)], Qt::ElideRight,
                                                                 std::max(text.width() - used, 0.0));
        painter.drawText(text, Qt::AlignVCenter | Qt::AlignRight, figures);
    }
    paint_outline(painter, look, b, rect);
}

void GraphPainter::paint_links(QPainter& painter, const Look& look) const {
    const auto& links = picture_->scene->links;
    const bool choice = look.marks != nullptr && look.marks->any;
    const double scale = std::min(look.place.scale, 1.0);
    for (const bool lit : {false, true}) {  // highlighted links on top
        for (size_t l = 0; l < links.size(); ++l) {
            const GraphLink& link = links[l];
            if ((choice && look.marks->links[l] != 0) != lit || link.route.size() < 2) {
                continue;
            }
            QPolygonF route = link.route;
            for (QPointF& point : route) {
                point = look.place.to_screen(point);
            }
            if (!route.boundingRect().adjusted(-2, -2, 2, 2).intersects(look.area)) {
                continue;
            }
            const double width = (1.1 + std::min(std::log2(static_cast<double>(link.edges)), 5.0) * 0.5) * scale;
            QColor color =
                lit ? theme_.selection : mixed(theme_.plot_background, theme_.faint_text, choice ? 0.4 : 0.75);
            QPen pen(color, lit ? width + 1.2 : std::max(width, 0.6));
            if (link.upward) {
                pen.setStyle(Qt::DashLine);
            }
            painter.setPen(pen);
            painter.setBrush(Qt::NoBrush);
            painter.drawPath(path_of(route));
            if (link.to >= 0 && look.place.scale > 0.35) {
                const QPointF tip = link.upward ? route.front() : route.back();
                const double side = 4.5 * scale, down = link.upward ? -1 : 1;
                painter.setPen(Qt::NoPen);
                painter.setBrush(color);
                painter.drawPolygon(QPolygonF({tip, tip + QPointF(-side * 0.7, -side * 1.5 * down),
                                               tip + QPointF(side * 0.7, -side * 1.5 * down)}));
            }
        }
    }
}

void GraphPainter::paint_box(QPainter& painter, const Look& look, int b) const {
    const GraphBox& box = picture_->scene->boxes[static_cast<size_t>(b)];
    const QRectF rect = look.place.to_screen(box.rect);
    const bool dim = dimmed(look, b);
    const QColor color = dim ? mixed(color_of(box), theme_.plot_background, 0.65) : color_of(box);
    const double radius = std::min(4 * look.place.scale, 4.0);
    if (!box.is_node()) {  // a stack of boxes
        for (const double shift : {4.0, 2.0}) {
            painter.setPen(QPen(color, 1));
            painter.setBrush(mixed(theme_.plot_background, color, 0.12));
            painter.drawRoundedRect(rect.translated(shift * look.place.scale, shift * look.place.scale), radius,
                                    radius);
        }
    }
    painter.setPen(QPen(color, 1));
    painter.setBrush(mixed(theme_.plot_background, color, theme_.dark ? 0.24 : 0.2));
    painter.drawRoundedRect(rect, radius, radius);
    painter.fillRect(QRectF(rect.left(), rect.top() + radius, strip * look.place.scale, rect.height() - 2 * radius),
                     color);
    if (box.bytes > 0 && picture_->scene->most_bytes > 0) {
        const double share = static_cast<double>(box.bytes) / static_cast<double>(picture_->scene->most_bytes);
        const double left = rect.left() + (strip + 5) * look.place.scale, height = 3 * look.place.scale;
        painter.fillRect(
            QRectF(left, rect.bottom() - 2 * height, (rect.right() - 6 * look.place.scale - left) * share, height),
            color);
    }
    paint_text(painter, rect, b, look.place.scale, !dim);
    paint_ports(painter, look, box);
    paint_outline(painter, look, b, rect);
}

void GraphPainter::paint_text(QPainter& painter, const QRectF& rect, int b, double scale, bool lit) const {
    const double line = QFontMetricsF(font_).height() * scale;
    if (line < smallest_text) {
        return;
    }
    const GraphBox& box = picture_->scene->boxes[static_cast<size_t>(b)];
    QFont title = bold_, plain = font_;
    title.setPixelSize(std::max(static_cast<int>(line * 0.78), 1));
    plain.setPixelSize(std::max(static_cast<int>(line * 0.74), 1));
    const QRectF text = rect.adjusted((strip + 5) * scale, 3 * scale, -6 * scale, 0);
    const QString sign = box.is_node() ? QString() : QStringLiteral("+");
    painter.setPen(lit ? theme_.text : mixed(theme_.text, theme_.plot_background, 0.4));
    painter.setFont(title);
    const double room = text.width() - (box.is_node() ? 0 : line);
    painter.drawText(text, Qt::AlignTop | Qt::AlignLeft,
                     QFontMetricsF(title).elidedText(titles_[static_cast<size_t>(b)], Qt::ElideMiddle, room));
    painter.drawText(text, Qt::AlignTop | Qt::AlignRight, sign);
    painter.setFont(plain);
    painter.setPen(lit ? theme_.faint_text : mixed(theme_.faint_text, theme_.plot_background, 0.4));
    painter.drawText(text.translated(0, line), Qt::AlignTop | Qt::AlignLeft,
                     QFontMetricsF(plain).elidedText(figures_[static_cast<size_t>(b)], Qt::ElideRight, text.width()));
    painter.drawText(text.translated(0, 2 * line), Qt::AlignTop | Qt::AlignLeft,
                     QFontMetricsF(plain).elidedText(places_[static_cast<size_t>(b)], Qt::ElideRight, text.width()));
}

void GraphPainter::paint_ports(QPainter& painter, const Look& look, const GraphBox& box) const {
    if (look.place.scale < 0.25) {
        return;
    }
    const QColor saved = category_color(theme_, Category::saved);
    const SavedTensors& table = picture_->index().tables().saved;
    for (const GraphPort& port : ports_of(*picture_, box)) {
        const QRectF rect = look.place.to_screen(port.rect);
        painter.setPen(QPen(port.retained ? mixed(saved, theme_.text, 0.45) : theme_.unknown, 1));
        painter.setBrush(port.retained ? QBrush(saved) : QBrush(Qt::NoBrush));
        if (table.is_packed[port.saved]) {
            painter.drawEllipse(rect);
        } else {
            painter.drawRect(rect);
        }
    }
}

void GraphPainter::paint_outline(QPainter& painter, const Look& look, int b, const QRectF& rect) const {
    const uint8_t mark = look.marks ? look.marks->boxes[static_cast<size_t>(b)] : 0;
    const bool found = look.found && std::binary_search(look.found->begin(), look.found->end(), b);
    painter.setBrush(Qt::NoBrush);
    if (found) {
        painter.setPen(QPen(theme_.pending, 2.5, Qt::DashLine));
        painter.drawRoundedRect(rect.adjusted(-4, -4, 4, 4), 6, 6);
    }
    if (mark != 0) {
        const bool strong = (mark & ~GraphMarks::on_path) != 0;
        painter.setPen(QPen(theme_.selection, strong ? 3 : 1.5));
        painter.drawRoundedRect(rect.adjusted(-1.5, -1.5, 1.5, 1.5), 5, 5);
        const GraphBox& box = picture_->scene->boxes[static_cast<size_t>(b)];
        if (strong && !box.is_node() && !box.open) {
            QFont small = font_;
            small.setPixelSize(std::clamp(static_cast<int>(QFontMetricsF(font_).height() * 0.7), 8, 12));
            const QString text = mark & GraphMarks::allocates && !(mark & GraphMarks::retains)
                                     ? GraphMap::tr("allocated in this group: open it to see the node")
                                     : GraphMap::tr("in this group: open it to see the node");
            const QSizeF size(QFontMetricsF(small).horizontalAdvance(text) + 10, QFontMetricsF(small).height() + 2);
            const QRectF label(rect.right() - size.width() + 6, rect.bottom() - size.height() / 2, size.width(),
                               size.height());
            painter.setPen(Qt::NoPen);
            painter.setBrush(theme_.selection);
            painter.drawRoundedRect(label, 4, 4);
            painter.setFont(small);
            painter.setPen(theme_.plot_background);
            painter.drawText(label, Qt::AlignCenter, text);
        }
    }
    if (b == look.hovered || b == look.focused) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(theme_.text, b == look.focused ? 1.5 : 1, b == look.focused ? Qt::DotLine : Qt::SolidLine));
        painter.drawRoundedRect(rect.adjusted(-3.5, -3.5, 3.5, 3.5), 6, 6);
    }
}

}  // namespace tidemark::gui
