// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Paints the texts of the graph picture: in boxes, in the titles of frames, and as labels over them.
#include <QFontInfo>
#include <algorithm>
#include <cmath>

#include "gui/graph/graph_box_text.h"
#include "gui/graph/graph_painter_pass.h"
#include "gui/model/graph_text.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

constexpr double least_text = 10;  // pixels; smaller text is hard to read
constexpr double text_of_line = 0.78;

/// Returns the module and the line of a node: "wte, train.py:74". Of the module only what the boxes around do not say.
QString node_place(const GraphPicture& picture, NodeIndex node) {
    const GraphIndex& index = picture.index();
    if (index.is_leaf(node)) {
        return to_qstring(index.type(node));
    }
    const std::string& module = index.trace().origins[index.tables().nodes.origin[node]].module;
    const GroupIndex group = picture.outline->group_of(node);
    const std::string around =
        group == no_group ? std::string() : module_path(*picture.outline, picture.outline->group(group));
    QStringList parts;
    if (module.size() > around.size() && module.starts_with(around)) {
        parts << to_qstring(std::string_view(module).substr(around.empty() ? 0 : around.size() + 1));
    }
    if (const QString line = line_text(index, node); !line.isEmpty()) {
        parts << line;
    }
    return parts.join(QStringLiteral(" · "));
}

}  // namespace

NodeState shown_state(const GroupTotals& totals) {
    return totals.executed > 0         ? NodeState::executed
           : totals.never_executed > 0 ? NodeState::never_executed
                                       : NodeState::released;
}

void paint_state(QPainter& painter, const QRectF& rect, NodeState state, const QColor& color) {
    const QRectF disc = rect.adjusted(0.75, 0.75, -0.75, -0.75);
    painter.setPen(QPen(color, 1.5));
    painter.setBrush(state == NodeState::never_executed ? QBrush(color) : QBrush(Qt::NoBrush));
    painter.drawEllipse(disc);
    if (state == NodeState::executed) {
        painter.setBrush(color);
        painter.setPen(Qt::NoPen);
        painter.drawPie(disc, -90 * 16, -180 * 16);
    }
}

GraphPainter::BoxText GraphPainter::text_of(const GraphBox& box) const {
    const GraphIndex& index = picture_->index();
    BoxText text;
    if (const int64_t bytes = picture_->totals(box).retained_bytes; bytes > 0) {
        text.bytes = bytes_text(bytes);
    }
    if (box.is_node()) {
        text.title = node_text(index, box.node);
        // Types differ at their beginning, parameters and modules at their end.
        text.title_elide = index.is_leaf(box.node) ? Qt::ElideLeft : Qt::ElideRight;
        text.place = node_place(*picture_, box.node);
        return text;
    }
    if (!box.is_group()) {
        const RootReferrer& referrer = picture_->referrer(box);
        text.title = referrer.text;
        text.place = GraphMap::tr("%1 root(s)", nullptr, plural(referrer.roots.size()))
                         .arg(count_text(static_cast<int64_t>(referrer.roots.size())));
        return text;
    }
    text.place = nodes_text(static_cast<int64_t>(picture_->nodes(box).size()));
    const OutlineGroup& group = picture_->outline->group(box.group);
    if (box.rest >= 0) {
        const uint32_t members = picture_->scene->rests[static_cast<size_t>(box.rest)].members;
        const bool of_graphs =
            group.kind == GroupKind::graphs ||
            (group.kind == GroupKind::part && picture_->outline->group(group.parent).kind == GroupKind::graphs);
        text.title = of_graphs
                         ? GraphMap::tr("%1 more graph(s) like this", nullptr, plural(members)).arg(count_text(members))
                         : GraphMap::tr("%1 more").arg(count_text(members));
        text.title_elide = Qt::ElideRight;
        return text;
    }
    text.title = group_text(index, *picture_->outline, group);
    if (group.kind == GroupKind::module || group.kind == GroupKind::repeat) {
        text.title_elide = Qt::ElideLeft;
    }
    if (group.kind == GroupKind::graphs) {
        text.title_elide = Qt::ElideRight;  // their number
        text.second_place = place_text(index, box.node);
    }
    return text;
}

/// Returns the font at a scale of the picture, but never too small to read.
QFont GraphPainter::sized(bool bold, double scale) const {
    QFont font = bold ? bold_ : font_;
    const double pixels = QFontMetricsF(font_).height() * text_of_line * scale;
    font.setPixelSize(static_cast<int>(std::max(pixels, least_text)));
    return font;
}

double GraphPainter::least_line() const { return QFontMetricsF(sized(true, 0)).height(); }

GraphDetail GraphPainter::detail(double scale) const { return {*picture_->scene, scale, least_line()}; }

/// Paints the title of a frame in the room above its content; without that room, it has a label.
void GraphPainter::paint_title(QPainter& painter, const Pass& pass, int b, const QRectF& rect) const {
    const QFont bold = sized(true, pass.place().scale), plain = sized(false, pass.place().scale);
    const QFontMetricsF bold_metrics(bold), metrics(plain);
    const double height = BoxMetrics{QFontMetricsF(font_).height()}.title() * pass.place().scale;
    const QRectF text(rect.left() + 8, rect.top() + 1, rect.width() - 16, height);
    if (height < bold_metrics.height() || pass.is_covered(text)) {
        return;
    }
    const BoxText& texts = texts_[static_cast<size_t>(b)];
    const QString title = bold_metrics.elidedText(QStringLiteral("−  ") + texts.title, texts.title_elide, text.width());
    painter.setFont(bold);
    painter.setPen(title_color(pass.dimmed(b)));
    painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextDontClip, title);
    double room = text.width() - bold_metrics.horizontalAdvance(title) - 14;
    QString figures = texts.bytes.isEmpty() ? texts.place : texts.bytes + QStringLiteral(" · ") + texts.place;
    if (metrics.horizontalAdvance(figures) > room) {
        figures = texts.bytes;  // a number that is cut says something else
    }
    if (metrics.horizontalAdvance(figures) <= room) {
        painter.setFont(plain);
        painter.setPen(text_color(pass.dimmed(b)));
        painter.drawText(text, Qt::AlignVCenter | Qt::AlignRight | Qt::TextDontClip, figures);
    }
}

/// Paints a line unless a label covers it.
void GraphPainter::write(QPainter& painter, const Pass& pass, const QRectF& at, const QString& text,
                         Qt::Alignment align) {
    if (!pass.is_covered(at)) {
        // Characters of another font may be higher than a line; without TextDontClip their underscores are lost.
        painter.drawText(at, align | Qt::AlignVCenter | Qt::TextDontClip, text);
    }
}

/// Paints as many lines as have room: the title; retained size and place; what similar graphs share.
void GraphPainter::paint_text(QPainter& painter, const Pass& pass, int b, const QRectF& rect) const {
    if (!GraphDetail::has_room(rect.size(), least_line())) {
        return;
    }
    const double scale = pass.place().scale, line = QFontMetricsF(sized(true, scale)).height();
    const GraphBox& box = picture_->scene->boxes[static_cast<size_t>(b)];
    const double side = box.referrer >= 0 ? rect.height() * 0.4 : 0;
    const QRectF inside = rect.adjusted((box_strip + 5) * scale + side, 2 * scale, -6 * scale - side,
                                        box.bytes > 0 && !box.open ? -6 * scale : -2 * scale);
    const int lines = std::clamp(static_cast<int>((inside.height() + 1) / line), 1, 3);
    const double top = lines == 1 ? inside.center().y() - line / 2 : inside.top() + 1;
    const auto place_of = [&](int nth) { return QRectF(inside.left(), top + nth * line, inside.width(), line); };
    paint_box_title(painter, pass, b, place_of(0), lines == 1);
    painter.setFont(sized(false, scale));
    if (lines > 1) {
        paint_figures(painter, pass, b, place_of(1));
    }
    if (lines > 2) {
        write(painter, pass, place_of(2),
              painter.fontMetrics().elidedText(texts_[static_cast<size_t>(b)].second_place, Qt::ElideMiddle,
                                               static_cast<int>(inside.width())),
              Qt::AlignLeft);
    }
}

/// Returns the title, or its most telling part that has room: the names of all node types end in "Backward0".
QString GraphPainter::fitting_title(const QFontMetricsF& metrics, const BoxText& texts, double width) {
    const auto end = texts.title.lastIndexOf(QLatin1String("Backward"));
    const bool is_type = texts.title_elide == Qt::ElideRight && end > 0;
    return metrics.horizontalAdvance(texts.title) > width && is_type
               ? metrics.elidedText(texts.title.left(end), texts.title_elide, width)
               : metrics.elidedText(texts.title, texts.title_elide, width);
}

/// Paints the mark of the state and the title; without further lines also the retained size, if both have room.
void GraphPainter::paint_box_title(QPainter& painter, const Pass& pass, int b, QRectF at, bool alone) const {
    const GraphBox& box = picture_->scene->boxes[static_cast<size_t>(b)];
    const BoxText& texts = texts_[static_cast<size_t>(b)];
    const QFont bold = sized(true, pass.place().scale), plain = sized(false, pass.place().scale);
    const QFontMetricsF metrics(bold);
    const bool dim = pass.dimmed(b);
    if (box.referrer < 0) {
        const double disc = std::round(at.height() * 0.55);
        if (!pass.is_covered(at)) {
            const QColor color = colors_ == GraphColors::state ? color_of(box) : theme_.text;
            paint_state(painter, QRectF(at.left(), at.center().y() - disc / 2, disc, disc),
                        shown_state(picture_->totals(box)), dim ? theme_.faint_text : color);
        }
        at.setLeft(at.left() + disc + 4);
    }
    painter.setFont(bold);
    painter.setPen(title_color(dim));
    if (box.is_group() && at.width() > 4 * at.height()) {
        write(painter, pass, at, QStringLiteral("+"), Qt::AlignRight);
        at.setRight(at.right() - metrics.horizontalAdvance(u'+') - 4);
    }
    write(painter, pass, at, fitting_title(metrics, texts, at.width()), Qt::AlignLeft);
    const double both =
        metrics.horizontalAdvance(texts.title) + 8 + QFontMetricsF(plain).horizontalAdvance(texts.bytes);
    if (alone && both <= at.width()) {
        painter.setFont(plain);
        write(painter, pass, at, texts.bytes, Qt::AlignRight);
    }
}

void GraphPainter::paint_figures(QPainter& painter, const Pass& pass, int b, QRectF at) const {
    const BoxText& texts = texts_[static_cast<size_t>(b)];
    const QFontMetricsF metrics(painter.font());
    const double bytes = metrics.horizontalAdvance(texts.bytes);
    if (bytes > 0 && bytes <= at.width()) {  // a number that is cut says something else
        write(painter, pass, at, texts.bytes, Qt::AlignLeft);
        at.setLeft(at.left() + bytes + 10);
    }
    painter.setPen(text_color(pass.dimmed(b)));
    if (at.width() > 4 * at.height()) {
        write(painter, pass, at, metrics.elidedText(texts.place, Qt::ElideLeft, at.width()),
              bytes > 0 ? Qt::AlignRight : Qt::AlignLeft);
    }
}

// ---- labels -----------------------------------------------------------------------------------------------------

/// Returns what a marked box has to do with the selected allocation.
QString GraphPainter::selection_text(const Pass& pass, int b) const {
    const uint8_t mark = pass.marks[static_cast<size_t>(b)];
    const GraphBox& box = picture_->scene->boxes[static_cast<size_t>(b)];
    const bool saves = (mark & GraphMarks::retains) != 0;
    if (!box.is_node()) {
        return mark & GraphMarks::allocates && !saves ? GraphMap::tr("allocated in this group: open it to see the node")
                                                      : GraphMap::tr("in this group: open it to see the node");
    }
    const AllocationRef memory = pass.look.marks->allocation;
    if (!memory) {
        return {};
    }
    const DeviceHistory& device = picture_->index().trace().devices[memory.device];
    const QString what = GraphMap::tr("%1 (%2)").arg(bytes_text(device.allocations.block_size[memory.index]),
                                                     allocation_text(device, memory.index));
    return saves ? GraphMap::tr("retains %1").arg(what) : GraphMap::tr("allocated %1").arg(what);
}

/// Labels of the selection come first, then titles of frames from outside to inside; one that would cover another is
/// left out.
void GraphPainter::add_labels(Pass& pass) const {
    const auto& boxes = picture_->scene->boxes;
    const QFontMetricsF metrics(sized(true, 0));
    const double height = metrics.height() + 2;
    const auto add = [&](QRectF rect, QString text, bool of_selection) {
        const bool inside = rect.intersects(pass.look.area);
        if (inside && !text.isEmpty() && !pass.is_covered(rect)) {
            pass.labels.push_back({rect, std::move(text), of_selection});
        }
    };
    for (int b = 0; b < static_cast<int>(boxes.size()); ++b) {
        const bool strong = (pass.marks[static_cast<size_t>(b)] & ~GraphMarks::on_path) != 0;
        if (strong && pass.detail.is_drawn(b) && !pass.detail.is_frame(b)) {
            const QRectF rect = pass.place().to_screen(boxes[static_cast<size_t>(b)].rect);
            const QString text = selection_text(pass, b);
            const double width = std::min(metrics.horizontalAdvance(text) + 12, pass.look.area.width());
            const double left = std::clamp(rect.right() - width + 6, pass.look.area.left(),
                                           std::max(pass.look.area.right() - width, pass.look.area.left()));
            add({left, rect.bottom() - 3 * pass.place().scale, width, height}, text, true);
        }
    }
    const double title = BoxMetrics{QFontMetricsF(font_).height()}.title() * pass.place().scale;
    if (title < height - 2) {
        for (int b = 0; b < static_cast<int>(boxes.size()); ++b) {
            const QRectF rect = pass.place().to_screen(boxes[static_cast<size_t>(b)].rect);
            if (pass.detail.is_frame(b) && pass.detail.is_drawn(b) && GraphDetail::has_room(rect.size(), height)) {
                const BoxText& texts = texts_[static_cast<size_t>(b)];
                const QString bytes = texts.bytes.isEmpty() ? QString() : QStringLiteral("  ") + texts.bytes;
                const double room = rect.width() - 8 - metrics.horizontalAdvance(bytes);
                const bool both = room > 4 * height;  // otherwise the name alone
                const QString text =
                    fitting_title(metrics, texts, both ? room : rect.width() - 8) + (both ? bytes : QString());
                add({rect.left() + 1, rect.top() + 1, metrics.horizontalAdvance(text) + 6, height}, text, false);
            }
        }
    }
    if (!pass.detail.has_text()) {
        const QRectF whole = pass.place().to_screen(QRectF(QPointF(), picture_->scene->size));
        const QString text =
            GraphMap::tr("%1: zoom in to read it").arg(nodes_text(picture_->outline->group(0).node_count));
        const double width = metrics.horizontalAdvance(text) + 12;
        add({whole.center().x() - width / 2, whole.bottom() + 4, width, height}, text, false);
    }
}

std::vector<GraphPainter::Label> GraphPainter::labels(const Look& look) const { return make_pass(look).labels; }

void GraphPainter::paint_labels(QPainter& painter, const Pass& pass) const {
    const QFont font = sized(true, 0);
    painter.setFont(font);
    for (const Label& label : pass.labels) {
        const QColor background =
            label.of_selection ? theme_.selection : mixed(theme_.plot_background, theme_.faint_text, 0.1);
        painter.setPen(Qt::NoPen);
        painter.setBrush(background);
        painter.drawRoundedRect(label.rect, 3, 3);
        painter.setPen(label.of_selection ? text_color_on(background) : title_color(pass.is_choice));
        painter.drawText(label.rect, Qt::AlignCenter | Qt::TextDontClip,
                         QFontMetricsF(font).elidedText(label.text, Qt::ElideRight, label.rect.width()));
    }
}

}  // namespace tidemark::gui
