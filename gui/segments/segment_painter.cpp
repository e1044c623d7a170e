// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/segments/segment_painter.h"

#include <QCoreApplication>
#include <QPaintEngine>
#include <algorithm>
#include <cmath>

#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "storage/base/saturated.h"
#include "storage/replay/active_walk.h"

namespace tidemark::gui {

namespace {

struct Map {
    Q_DECLARE_TR_FUNCTIONS(Map)
};

constexpr double widest_sliver = 2;         // device pixels; wider blocks get whole columns of their own
constexpr float least_sliver_share = 0.4f;  // so that one small block in an empty column stays visible

QRgb blend(QRgb a, QRgb b, float share_of_b) {
    const auto mix = [&](int x, int y) {
        return static_cast<int>(
            std::lround(static_cast<float>(x) * (1 - share_of_b) + static_cast<float>(y) * share_of_b));
    };
    return qRgb(mix(qRed(a), qRed(b)), mix(qGreen(a), qGreen(b)), mix(qBlue(a), qBlue(b)));
}

/// Memory of the driver has neither pool nor stream.
QString place_of(const Trace& trace, const PlacedGroup& group) {
    if (trace.event_source == EventSource::driver) {
        return Map::tr("Driver allocations");
    }
    const QString where = QStringLiteral("%1 · %2").arg(pool_text(trace, group.pool), stream_text(trace, group.stream));
    return group.pool_known ? where : where + Map::tr(" (pool not recorded for all: hatched)");
}

/// Memory of the driver has no free parts.
QString figures_of(const Trace& trace, const PlacedGroup& group) {
    if (trace.event_source == EventSource::driver) {
        const QString count = Map::tr("%1 allocation(s)", nullptr, plural(group.count)).arg(count_text(group.count));
        return facts_text({count, bytes_text(group.size)});
    }
    const QString segments = Map::tr("%1 segment(s)", nullptr, plural(group.count)).arg(count_text(group.count));
    return Map::tr("%1, %2, %3 used")
        .arg(segments, bytes_text(group.size),
             percent_text(static_cast<double>(group.active), static_cast<double>(group.size)));
}

}  // namespace

void SegmentPainter::paint(QPainter& painter, const MapScene& scene, const QRect& visible) {
    scene_ = &scene;
    const SelectionState& selected = scene.session->selection().state();
    visible_ = visible;
    selected_group_ = selected.allocation == no_allocation && !selected.stack && !selected.memory
                          ? scene.session->selected_group()
                          : -1;
    grouping_ = &scene.session->grouping();
    hovered_ = &scene.session->selection().hovered();
    dimming_ = !hovered_->empty() || selected.allocation != no_allocation ||
               (selected.stack && scene.has_selected_stack) || selected.memory || selected_group_ >= 0;
    vector_ = painter.paintEngine()->type() != QPaintEngine::Raster;
    ratio_ = vector_ ? 1 : painter.device()->devicePixelRatio() * std::max(painter.combinedTransform().m11(), 0.1);
    free_ = scene.theme.cached.rgb();
    dim_ = scene.theme.plot_background.rgb();
    edge_ = scene.theme.plot_background.rgb();
    colors_.prepare(*scene.session, scene.theme, scene.color_by, scene.state->point);
    painter.setFont(scene.font);
    for (const PlacedGroup& group : scene.layout->groups()) {
        if (group.top <= visible.bottom() && group.top + scene.layout->options().header_height >= visible.top()) {
            paint_header(painter, group);
        }
    }
    const auto [first, last] = scene.layout->visible(visible.top(), visible.bottom());
    for (uint32_t i = first; i < last; ++i) {
        paint_segment(painter, scene.layout->segments()[i], visible);
    }
    paint_marks(painter);
}

void SegmentPainter::paint_header(QPainter& painter, const PlacedGroup& group) const {
    const LayoutOptions& options = scene_->layout->options();
    const Trace& trace = scene_->session->trace();
    const QString where = place_of(trace, group), figures = figures_of(trace, group);
    const QRectF area(0, group.top, options.left + options.line_width, options.header_height - 5);
    QFont bold = scene_->font;
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(scene_->theme.text);
    QRectF used;
    painter.drawText(area, Qt::AlignLeft | Qt::AlignBottom, where, &used);
    painter.setFont(scene_->font);
    painter.setPen(scene_->theme.faint_text);
    painter.drawText(area.adjusted(used.width() + 12, 0, 0, 0), Qt::AlignLeft | Qt::AlignBottom, figures);
}

QRectF SegmentPainter::rect_of_line(const PlacedSegment& placed, int line) const {
    const LayoutOptions& options = scene_->layout->options();
    const double length = std::min(placed.length - line * options.line_width, options.line_width);
    return {placed.left, static_cast<double>(placed.top + line * options.pitch()), std::max(length, 1.0),
            static_cast<double>(options.bar_height)};
}

void SegmentPainter::paint_segment(QPainter& painter, const PlacedSegment& placed, const QRect& visible) {
    const LayoutOptions& options = scene_->layout->options();
    const int first = std::clamp((visible.top() - placed.top) / options.pitch(), 0, placed.lines - 1);
    const int last = std::clamp((visible.bottom() - placed.top) / options.pitch(), 0, placed.lines - 1);
    if (options.left > 0 && first == 0) {
        const SegmentState& s = scene_->state->segments[placed.index];
        const QRectF area(0, placed.top, options.left - 8, options.bar_height);
        painter.setPen(scene_->theme.faint_text);
        painter.drawText(
            area, Qt::AlignRight | Qt::AlignVCenter,
            QStringLiteral("%1  %2").arg(
                bytes_text(s.size),
                percent_text(static_cast<double>(s.size - s.free()), static_cast<double>(s.size)).rightJustified(6)));
    }
    for (int line = first; line <= last; ++line) {
        paint_line(painter, placed, line);
    }
}

void SegmentPainter::paint_line(QPainter& painter, const PlacedSegment& placed, int line) {
    const SegmentState& segment = scene_->state->segments[placed.index];
    const QRectF bar = rect_of_line(placed, line);
    if (segment.cached()) {
        painter.fillRect(bar, scene_->theme.cached);
        paint_frame(painter, placed, bar, line);
        return;
    }
    const double columns_per_byte = placed.pixels_per_byte() * ratio_;
    const double first_byte = line * scene_->layout->options().line_width / placed.pixels_per_byte();
    columns_.assign(static_cast<size_t>(std::max(1.0, std::round(bar.width() * ratio_))), free_column(segment));
    fill_columns(segment, first_byte, columns_per_byte);
    blit(painter, bar);

    const double shortest_labeled = 52 / placed.pixels_per_byte();
    const double last_byte = first_byte + bar.width() / placed.pixels_per_byte();
    if (last_byte - first_byte > shortest_labeled) {
        const double base = static_cast<double>(segment.address);
        for (uint32_t i = block_at(segment, segment.address + saturated<uint64_t>(first_byte));
             i < segment.blocks.size() && static_cast<double>(segment.blocks[i].address) - base < last_byte; ++i) {
            const Block& block = segment.blocks[i];
            if (static_cast<double>(block.size) < shortest_labeled || block.state == BlockState::inactive) {
                continue;
            }
            const double begin = static_cast<double>(block.address) - base;
            if (first_byte - begin >= shortest_labeled) {
                continue;  // a line above has its label: twice it would look like two blocks
            }
            const double from = std::max(begin - first_byte, 0.0);
            const double to = std::min(begin + static_cast<double>(block.size), last_byte) - first_byte;
            paint_label(painter, block,
                        QRectF(bar.left() + from * placed.pixels_per_byte(), bar.top(),
                               (to - from) * placed.pixels_per_byte(), bar.height()));
        }
    }
    paint_frame(painter, placed, bar, line);
    underline_lit(painter, bar);
}

SegmentPainter::Column SegmentPainter::free_column(const SegmentState& segment) const {
    const bool known = scene_->session->device().segments[segment.segment].pool_known;
    return {free_, scene_->theme.unknown.rgb(), known ? Texture::plain : Texture::hatched};
}

void SegmentPainter::fill_columns(const SegmentState& segment, double first_byte, double columns_per_byte) {
    mixes_.clear();
    const double count = static_cast<double>(columns_.size());
    const double base = static_cast<double>(segment.address);
    for (uint32_t i = block_at(segment, segment.address + saturated<uint64_t>(first_byte)); i < segment.blocks.size();
         ++i) {
        const Block& block = segment.blocks[i];
        const double begin = (static_cast<double>(block.address) - base - first_byte) * columns_per_byte;
        if (begin >= count) {
            break;
        }
        if (block.state != BlockState::inactive) {
            add_block(block, begin, begin + static_cast<double>(block.size) * columns_per_byte, columns_per_byte);
        }
    }
    resolve_slivers();
}

bool SegmentPainter::lit(const Block& block) const {
    if (!hovered_->empty()) {
        return std::binary_search(hovered_->begin(), hovered_->end(), block.allocation);
    }
    const SelectionState& selected = scene_->session->selection().state();
    if (block.allocation == selected.allocation && block.allocation != no_allocation) {
        return true;
    }
    if (selected.memory) {
        return contains(selected.memory, block.allocation);
    }
    if (selected_group_ >= 0) {
        return grouping_->group_at(block.allocation, state_at(scene_->session->device().allocations, block.allocation,
                                                              scene_->state->point)) == selected_group_;
    }
    // Stack 0 means "no frames", so two blocks with stack 0 have nothing in common.
    return selected.stack && (*selected.stack != 0 || selected.allocation == no_allocation) &&
           scene_->session->device().allocations.stack[block.allocation] == *selected.stack;
}

QRgb SegmentPainter::color_of(const Block& block) const {
    const QRgb color = colors_.of(block.allocation);
    return dimming_ && !lit(block) ? blend(color, dim_, 0.72f) : color;
}

void SegmentPainter::add_block(const Block& block, double begin, double end, double columns_per_byte) {
    if (end - begin < widest_sliver) {
        add_sliver(block, begin, end);
        return;
    }
    const double count = static_cast<double>(columns_.size());
    const auto column_at = [&](double x) { return static_cast<int>(std::lround(std::clamp(x, 0.0, count))); };
    const int from = column_at(begin), to = std::max(column_at(end), from);
    const bool is_lit = dimming_ && lit(block), dimmed = dimming_ && !is_lit;
    Column column{color_of(block), 0, Texture::plain, is_lit};
    if (block.state == BlockState::pending_free) {
        column.texture = Texture::striped;
        column.stripe = dimmed ? blend(scene_->theme.pending.rgb(), dim_, 0.6f) : scene_->theme.pending.rgb();
    } else if (colors_.has_unknown_role(block.allocation)) {
        column.texture = Texture::hatched;
        column.stripe = column.fill;
        column.fill = blend(column.fill, dim_, static_cast<float>(light_of_unknown));
    } else if (colors_.is_unexplained(block.allocation)) {
        column.texture = Texture::hatched;
        column.stripe = blend(column.fill, scene_->theme.unknown.rgb(), dimmed ? 0.25f : 0.8f);
    }
    std::fill(columns_.begin() + from, columns_.begin() + to, column);

    const double rounding_bytes =
        static_cast<double>(rounding_of(scene_->session->device().allocations, block.allocation));
    const double slice = std::round(rounding_bytes * columns_per_byte);
    if (slice >= 1) {
        const QRgb rounding = scene_->theme.rounding.rgb();
        const Column rounded{dimmed ? blend(rounding, dim_, 0.6f) : rounding, 0, Texture::plain, is_lit};
        std::fill(columns_.begin() + std::clamp(column_at(std::round(end) - slice), from, to), columns_.begin() + to,
                  rounded);
    }
    if (end - begin >= 4 * ratio_ && end <= count) {
        std::fill(columns_.begin() + std::max(from, to - static_cast<int>(std::lround(ratio_))), columns_.begin() + to,
                  Column{edge_, 0, Texture::plain});
    }
}

void SegmentPainter::add_sliver(const Block& block, double begin, double end) {
    mixes_.resize(columns_.size());
    const QRgb color = color_of(block);
    const bool is_lit = dimming_ && lit(block);
    const int last = static_cast<int>(columns_.size()) - 1;
    const int from = std::clamp(saturated<int>(begin), 0, last);
    const int to = std::clamp(saturated<int>(std::ceil(end) - 1), from, last);
    if (end <= 0) {
        return;
    }
    for (int x = from; x <= to; ++x) {
        Mix& mix = mixes_[static_cast<size_t>(x)];
        const float share =
            std::max(static_cast<float>(std::min<double>(end, x + 1) - std::max<double>(begin, x)), 1e-4f);
        if (is_lit && !mix.lit) {
            mix = Mix{};  // neighbors never hide the selection
        }
        if (is_lit || !mix.lit) {
            mix.red += share * static_cast<float>(qRed(color));
            mix.green += share * static_cast<float>(qGreen(color));
            mix.blue += share * static_cast<float>(qBlue(color));
            mix.share += share;
            mix.lit = is_lit;
            mix.pending = block.state == BlockState::pending_free;
        }
    }
}

void SegmentPainter::resolve_slivers() {
    for (size_t x = 0; x < mixes_.size(); ++x) {
        const Mix& mix = mixes_[x];
        if (mix.share <= 0) {
            continue;
        }
        const auto average = [&](float sum) { return static_cast<int>(std::lround(sum / mix.share)); };
        const QRgb color = qRgb(average(mix.red), average(mix.green), average(mix.blue));
        const float share = mix.lit ? 1.0f : std::clamp(mix.share, least_sliver_share, 1.0f);
        columns_[x] = {blend(columns_[x].fill, color, share), scene_->theme.pending.rgb(),
                       mix.pending ? Texture::striped : Texture::plain, mix.lit};
    }
}

void SegmentPainter::blit(QPainter& painter, const QRectF& bar) {
    if (vector_) {
        // A vector file gets a few large rectangles instead of a picture.
        for (size_t begin = 0, end = 0; begin < columns_.size(); begin = end) {
            const Column& c = columns_[begin];
            end = begin + 1;
            while (end < columns_.size() && columns_[end].fill == c.fill && columns_[end].texture == c.texture) {
                ++end;
            }
            const QRectF run(bar.left() + static_cast<double>(begin), bar.top(), static_cast<double>(end - begin),
                             bar.height());
            painter.fillRect(run, QColor(c.fill));
            if (c.texture != Texture::plain) {
                painter.fillRect(run, QBrush(QColor(c.stripe),
                                             c.texture == Texture::striped ? Qt::BDiagPattern : Qt::DiagCrossPattern));
            }
        }
        return;
    }
    const int width = static_cast<int>(columns_.size());
    const int height = static_cast<int>(std::lround(bar.height() * ratio_));
    if (line_image_.width() < width || line_image_.height() < height) {
        line_image_ =
            QImage(std::max(width, line_image_.width()), std::max(height, line_image_.height()), QImage::Format_RGB32);
    }
    const int texture_scale = std::max(1, static_cast<int>(ratio_));
    for (int y = 0; y < height; ++y) {
        auto* out = reinterpret_cast<QRgb*>(line_image_.scanLine(y));
        for (int x = 0; x < width; ++x) {
            const Column& c = columns_[static_cast<size_t>(x)];
            const bool stripe =
                c.texture != Texture::plain && has_line_at(c.texture, x / texture_scale, y / texture_scale);
            out[x] = 0xff000000u | (stripe ? c.stripe : c.fill);
        }
    }
    const bool was_smooth = painter.testRenderHint(QPainter::SmoothPixmapTransform);
    painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
    painter.drawImage(QRectF(bar.left(), bar.top(), width / ratio_, height / ratio_), line_image_,
                      QRectF(0, 0, width, height));
    painter.setRenderHint(QPainter::SmoothPixmapTransform, was_smooth);
}

void SegmentPainter::paint_label(QPainter& painter, const Block& block, const QRectF& rect) {
    const QFontMetricsF metrics(scene_->font);
    if (rect.width() < 52 || rect.height() < metrics.ascent()) {
        return;
    }
    QString label = bytes_text(block.size);
    const QRectF inside = rect.adjusted(4, 0, -5, 0);
    if (metrics.horizontalAdvance(label) > inside.width()) {
        return;
    }
    if (inside.width() > 150) {
        const Session& session = *scene_->session;
        const StackId stack = session.device().allocations.stack[block.allocation];
        auto name = stack_names_.find(stack);
        if (name == stack_names_.end()) {
            name = stack_names_.insert(stack, stack_text(session.trace().stacks, stack));
        }
        const QString where = *name;
        label = metrics.elidedText(label + QStringLiteral("  ") + where, Qt::ElideRight, inside.width());
    }
    const QColor background(color_of(block));
    QColor ink = text_color_on(background);
    if (dimming_ && !lit(block)) {
        ink = scene_->theme.faint_text;
    }
    if (block.state == BlockState::pending_free || colors_.is_unexplained(block.allocation) ||
        colors_.has_unknown_role(block.allocation)) {
        const double width = metrics.horizontalAdvance(label) + 4;
        painter.fillRect(QRectF(inside.left() - 2, rect.top() + 2, width, rect.height() - 4), background);
    }
    painter.setPen(ink);
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter, label);
}

void SegmentPainter::paint_frame(QPainter& painter, const PlacedSegment& placed, const QRectF& bar, int line) const {
    const SegmentState& segment = scene_->state->segments[placed.index];
    const bool selected = scene_->session->selection().state().segment != no_segment &&
                          scene_->session->selection().state().allocation == no_allocation &&
                          scene_->session->selection().state().segment == segment.segment;
    const QColor faint(blend(scene_->theme.faint_text.rgb(), dim_, 0.6f));
    QPen pen(selected           ? scene_->theme.selection
             : segment.cached() ? faint
                                : scene_->theme.faint_text,
             selected ? 2 : 1);
    if (segment.cached() && !selected && placed.length > 30) {
        pen.setDashPattern({3, 3});
    }
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    // An open side shows that the bar continues in the line above or below.
    const QRectF r = bar.adjusted(0.5, 0.5, -0.5, -0.5);
    painter.drawLine(r.topLeft(), r.topRight());
    painter.drawLine(r.bottomLeft(), r.bottomRight());
    if (line == 0) {
        painter.drawLine(r.topLeft(), r.bottomLeft());
    }
    if (line == placed.lines - 1) {
        painter.drawLine(r.topRight(), r.bottomRight());
    }
}

}  // namespace tidemark::gui
