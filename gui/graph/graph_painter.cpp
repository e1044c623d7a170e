// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_painter.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/graph/graph_box_text.h"
#include "gui/graph/graph_painter_pass.h"
#include "gui/model/graph_text.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

constexpr size_t most_ports = 6;

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
    texts_.clear();
    ages_ = {INFINITY, -INFINITY};
    if (!picture_) {
        return;
    }
    for (const GraphBox& box : picture_->scene->boxes) {
        texts_.push_back(text_of(box));
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

QColor GraphPainter::color_of(const GraphBox& box) const {
    if (box.referrer >= 0) {
        return theme_.faint_text;
    }
    switch (colors_) {
        case GraphColors::state: return node_state_color(theme_, shown_state(picture_->totals(box)));
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

QColor GraphPainter::text_color(bool dim) const {
    return dim ? theme_.faint_text : mixed(theme_.faint_text, theme_.text, 0.35);
}

QColor GraphPainter::fill_color(const QColor& state, bool dim) const {
    return mixed(theme_.plot_background, state, dim ? 0.05 : theme_.dark ? 0.24 : 0.2);
}

GraphPainter::Pass GraphPainter::make_pass(const Look& look) const {
    const size_t count = picture_->scene->boxes.size();
    Pass pass{look, detail(look.place.scale), std::vector<uint8_t>(count), std::vector<bool>(count), {}, false};
    if (look.marks != nullptr && look.marks->any) {
        pass.is_choice = true;
        for (size_t b = 0; b < count; ++b) {
            pass.marks[static_cast<size_t>(pass.detail.shown(static_cast<int>(b)))] |= look.marks->boxes[b];
        }
    }
    if (look.found != nullptr) {
        for (const int b : *look.found) {
            pass.found[static_cast<size_t>(pass.detail.shown(b))] = true;
        }
    }
    add_labels(pass);
    return pass;
}

void GraphPainter::paint(QPainter& painter, const Look& look) const {
    painter.setRenderHint(QPainter::Antialiasing);
    const Pass pass = make_pass(look);
    const auto& boxes = picture_->scene->boxes;
    const auto visible = [&](int b) {
        return pass.detail.is_drawn(b) &&
               look.place.to_screen(boxes[static_cast<size_t>(b)].rect.adjusted(0, 0, 90, 0)).intersects(look.area);
    };
    for (int b = 0; b < static_cast<int>(boxes.size()); ++b) {
        if (pass.detail.is_frame(b) && visible(b)) {
            paint_frame(painter, pass, b);
        }
    }
    paint_links(painter, pass);
    for (int b = 0; b < static_cast<int>(boxes.size()); ++b) {
        if (!pass.detail.is_frame(b) && visible(b)) {
            paint_box(painter, pass, b);
        }
    }
    paint_labels(painter, pass);
}

void GraphPainter::paint_frame(QPainter& painter, const Pass& pass, int b) const {
    const GraphBox& box = picture_->scene->boxes[static_cast<size_t>(b)];
    const QRectF rect = pass.place().to_screen(box.rect);
    int depth = 0;
    for (int p = box.parent; p >= 0; p = picture_->scene->boxes[static_cast<size_t>(p)].parent) {
        ++depth;
    }
    painter.setPen(QPen(mixed(theme_.plot_background, theme_.faint_text, 0.45), 1));
    painter.setBrush(mixed(theme_.plot_background, theme_.faint_text, 0.06 + 0.05 * (depth % 3)));
    painter.drawRoundedRect(rect, 6, 6);
    paint_title(painter, pass, b, rect);
    paint_outline(painter, pass, b, rect);
}

void GraphPainter::paint_links(QPainter& painter, const Pass& pass) const {
    const auto& links = picture_->scene->links;
    const GraphPlace& place = pass.place();
    const double scale = std::min(place.scale, 1.0);
    for (const bool lit : {false, true}) {  // highlighted links on top
        for (size_t l = 0; l < links.size(); ++l) {
            const GraphLink& link = links[l];
            const int frame = picture_->scene->boxes[static_cast<size_t>(std::max(link.from, link.to))].parent;
            const bool hidden = frame >= 0 && !(pass.detail.is_frame(frame) && pass.detail.is_drawn(frame));
            if ((pass.is_choice && pass.look.marks->links[l] != 0) != lit || link.route.size() < 2 || hidden) {
                continue;
            }
            QPolygonF route = link.route;
            for (QPointF& point : route) {
                point = place.to_screen(point);
            }
            if (!route.boundingRect().adjusted(-2, -2, 2, 2).intersects(pass.look.area)) {
                continue;
            }
            const double width = (1.1 + std::min(std::log2(static_cast<double>(link.edges)), 5.0) * 0.5) * scale;
            QColor color =
                lit ? theme_.selection : mixed(theme_.plot_background, theme_.faint_text, pass.is_choice ? 0.4 : 0.75);
            QPen pen(color, lit ? std::max(width + 1.2, 2.0) : std::max(width, 0.6));
            if (link.upward) {
                pen.setStyle(Qt::DashLine);
            }
            painter.setPen(pen);
            painter.setBrush(Qt::NoBrush);
            painter.drawPath(path_of(route));
            if (link.to >= 0 && (lit || place.scale > 0.35)) {
                const QPointF tip = link.upward ? route.front() : route.back();
                const double side = lit ? std::max(4.5 * scale, 3.5) : 4.5 * scale, down = link.upward ? -1 : 1;
                painter.setPen(Qt::NoPen);
                painter.setBrush(color);
                painter.drawPolygon(QPolygonF({tip, tip + QPointF(-side * 0.7, -side * 1.5 * down),
                                               tip + QPointF(side * 0.7, -side * 1.5 * down)}));
            }
        }
    }
}

void GraphPainter::paint_box(QPainter& painter, const Pass& pass, int b) const {
    const GraphBox& box = picture_->scene->boxes[static_cast<size_t>(b)];
    const double scale = pass.place().scale;
    const QRectF rect = pass.place().to_screen(box.rect);
    const bool dim = pass.dimmed(b);
    const QColor color = dim ? mixed(color_of(box), theme_.plot_background, 0.65) : color_of(box);
    const double radius = box.referrer >= 0 ? rect.height() / 2 : std::min(4 * scale, 4.0);
    if (box.is_group() && !box.open) {  // a stack of boxes
        for (const double shift : {4.0, 2.0}) {
            painter.setPen(QPen(color, 1));
            painter.setBrush(mixed(theme_.plot_background, color, 0.12));
            painter.drawRoundedRect(rect.translated(shift * scale, shift * scale), radius, radius);
        }
    }
    const bool released = box.referrer < 0 && shown_state(picture_->totals(box)) == NodeState::released;
    painter.setPen(QPen(color, 1, released ? Qt::DashLine : Qt::SolidLine));
    painter.setBrush(fill_color(color, dim));
    painter.drawRoundedRect(rect, radius, radius);
    if (box.referrer < 0) {
        painter.fillRect(QRectF(rect.left(), rect.top() + radius, box_strip * scale, rect.height() - 2 * radius),
                         color);
    }
    if (box.bytes > 0 && picture_->scene->most_bytes > 0 && !box.open) {
        const double share = static_cast<double>(box.bytes) / static_cast<double>(picture_->scene->most_bytes);
        const double left = rect.left() + (box_strip + 5) * scale, height = 3 * scale;
        painter.fillRect(QRectF(left, rect.bottom() - 2 * height, (rect.right() - 6 * scale - left) * share, height),
                         color);
    }
    paint_text(painter, pass, b, rect);
    paint_ports(painter, pass, b);
    paint_outline(painter, pass, b, rect);
}

void GraphPainter::paint_ports(QPainter& painter, const Pass& pass, int b) const {
    if (pass.place().scale < 0.25) {
        return;
    }
    const QColor saved = category_color(theme_, Category::saved);
    const SavedTensors& table = picture_->index().tables().saved;
    for (const GraphPort& port : ports_of(*picture_, picture_->scene->boxes[static_cast<size_t>(b)])) {
        const QRectF rect = pass.place().to_screen(port.rect);
        const AllocationRef memory = table.allocation[port.saved];
        const bool chosen = pass.is_choice && port.retained && memory && pass.look.marks->allocation == memory;
        painter.setPen(chosen          ? QPen(theme_.selection, 2.5)
                       : port.retained ? QPen(mixed(saved, theme_.text, 0.45), 1)
                                       : QPen(theme_.unknown, 1));
        painter.setBrush(port.retained ? QBrush(saved) : QBrush(Qt::NoBrush));
        if (table.is_packed[port.saved]) {
            painter.drawEllipse(rect);
        } else {
            painter.drawRect(rect);
        }
    }
}

void GraphPainter::paint_outline(QPainter& painter, const Pass& pass, int b, const QRectF& rect) const {
    const uint8_t mark = pass.marks[static_cast<size_t>(b)];
    painter.setBrush(Qt::NoBrush);
    if (pass.found[static_cast<size_t>(b)]) {
        painter.setPen(QPen(theme_.pending, 2.5, Qt::DashLine));
        painter.drawRoundedRect(rect.adjusted(-4, -4, 4, 4), 6, 6);
    }
    if (mark != 0) {
        painter.setPen(QPen(theme_.selection, (mark & ~GraphMarks::on_path) != 0 ? 3 : 2));
        const double radius = picture_->scene->boxes[static_cast<size_t>(b)].referrer >= 0 ? rect.height() / 2 : 5;
        painter.drawRoundedRect(rect.adjusted(-1.5, -1.5, 1.5, 1.5), radius, radius);
    }
    if (b == pass.look.hovered || b == pass.look.focused) {
        painter.setPen(
            QPen(theme_.text, b == pass.look.focused ? 1.5 : 1, b == pass.look.focused ? Qt::DotLine : Qt::SolidLine));
        painter.drawRoundedRect(rect.adjusted(-3.5, -3.5, 3.5, 3.5), 6, 6);
    }
}

}  // namespace tidemark::gui
