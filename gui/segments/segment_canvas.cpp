// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/segments/segment_canvas.h"

#include <QApplication>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

constexpr double finest_scale = 8;  // bytes per pixel: a 512-byte block is 64 pixels wide

}  // namespace

SegmentCanvas::SegmentCanvas(QWidget* parent) : QAbstractScrollArea(parent) {
    setMouseTracking(true);
    viewport()->setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
    setAccessibleName(tr("Segment map"));
    setMinimumSize(200, 80);
    connect(verticalScrollBar(), &QScrollBar::valueChanged, viewport(), qOverload<>(&QWidget::update));
}

void SegmentCanvas::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
    }
    session_ = session;
    state_.reset();
    reference_.reset();
    hovered_.reset();
    focused_.reset();
    zoom_mode_ = Zoom::fitted;
    refit_ = true;
    painter_ = {};
    if (session_) {
        const auto repaint = [this] { viewport()->update(); };
        connect(&session_->selection(), &Selection::selected_changed, this, [this] {
            find_selected_stack();
            viewport()->update();
        });
        connect(&session_->selection(), &Selection::hovered_changed, this, repaint);
        connect(&session_->graph_source(), &GraphSource::changed, this, repaint);
        connect(session_, &Session::grouping_changed, this, repaint);
        connect(session_, &Session::group_selected, this, repaint);
    }
    arrange();
}

void SegmentCanvas::set_reference(std::shared_ptr<const MemoryState> reference) {
    reference_ = std::move(reference);
    refit_ = true;
    arrange();
}

void SegmentCanvas::set_state(std::shared_ptr<const MemoryState> state) {
    state_ = std::move(state);
    hovered_.reset();
    if (focused_) {
        focused_ = state_ ? find_block_at(*state_, focus_address_) : std::nullopt;
    }
    find_selected_stack();
    arrange();
}

void SegmentCanvas::find_selected_stack() {
    const auto stack = session_ && state_ ? session_->selection().state().stack : std::nullopt;
    const auto has_stack = [&](const SegmentState& segment) {
        const auto& stacks = session_->device().allocations.stack;
        return std::any_of(segment.blocks.begin(), segment.blocks.end(), [&](const Block& block) {
            return block.allocation != no_allocation && stacks[block.allocation] == *stack;
        });
    };
    has_selected_stack_ = stack && std::any_of(state_->segments.begin(), state_->segments.end(), has_stack);
}

void SegmentCanvas::set_colors(MapColors by) {
    color_by_ = by;
    viewport()->update();
}

void SegmentCanvas::set_order(SegmentOrder order) {
    order_ = order;
    refit_ = true;
    arrange();
}

void SegmentCanvas::set_same_width(bool on) {
    same_width_ = on;
    zoom_ = 1;
    zoom_mode_ = Zoom::fitted;
    refit_ = true;
    arrange();
}

void SegmentCanvas::set_note(const QString& note) {
    note_ = note;
    viewport()->update();
}

LayoutOptions SegmentCanvas::base_options(QSizeF area) const {
    LayoutOptions options;
    options.same_width = same_width_;
    options.order = order_;
    options.header_height = fontMetrics().height() + 8;
    options.left = same_width_ ? fontMetrics().horizontalAdvance(QStringLiteral("1023 MiB  100 %")) + 12 : 0;
    options.line_width = std::max(50.0, area.width() - options.left - 2 * margin);
    return options;
}

void SegmentCanvas::arrange() {
    if (!session_ || !state_) {
        layout_.clear();
        verticalScrollBar()->setRange(0, 0);
        viewport()->update();
        return;
    }
    const QSizeF area = viewport()->size();
    if (refit_) {
        fitted_ = fitted(reference_ ? *reference_ : *state_, session_->device(),
                         QSizeF(area.width(), area.height() - 2 * margin), base_options(area));
        refit_ = false;
    }
    LayoutOptions options = fitted_;
    if (zoom_mode_ == Zoom::free) {
        options.bytes_per_pixel = bytes_per_pixel_;
        options.zoom = zoom_;
        options.bar_height = std::max(options.bar_height, 18);
    } else {
        bytes_per_pixel_ = options.bytes_per_pixel;
        zoom_ = options.zoom;
    }
    layout_.arrange(*state_, session_->device(), options);
    const int overflow = layout_.height() + 2 * margin - viewport()->height();
    verticalScrollBar()->setRange(0, std::max(0, overflow));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(options.pitch());
    emit scale_changed(same_width_ ? 0 : bytes_per_pixel_);
    viewport()->update();
}

// --- Painting ---------------------------------------------------------------------------------------------------

MapScene SegmentCanvas::scene(const SegmentLayout& layout) const {
    MapScene scene;
    scene.session = session_;
    scene.state = state_.get();
    scene.layout = &layout;
    scene.theme = Theme::current();
    scene.color_by = color_by_;
    scene.has_selected_stack = has_selected_stack_;
    scene.font = font();
    return scene;
}

QPointF SegmentCanvas::to_map(QPointF viewport_point) const {
    return viewport_point - QPointF(margin, margin - verticalScrollBar()->value());
}

QRect SegmentCanvas::visible_area() const {
    return viewport()->rect().translated(-margin, verticalScrollBar()->value() - margin);
}

void SegmentCanvas::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    const Theme theme = Theme::current();
    painter.fillRect(viewport()->rect(), theme.plot_background);
    if (!session_ || !state_ || layout_.segments().empty()) {
        painter.setPen(theme.faint_text);
        painter.drawText(viewport()->rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap, note_);
        return;
    }
    MapScene shown = scene(layout_);
    shown.hovered = hovered_;
    shown.focused = hasFocus() ? focused_ : std::nullopt;
    painter.translate(margin, margin - verticalScrollBar()->value());
    painter_.paint(painter, shown, visible_area());
}

double SegmentCanvas::render_to(QPainter& painter, QSize size) {
    const Theme theme = Theme::current();
    painter.fillRect(QRect(QPoint(), size), theme.plot_background);
    if (!session_ || !state_ || state_->segments.empty()) {
        painter.setPen(theme.faint_text);
        painter.drawText(QRect(QPoint(), size).adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap, note_);
        return 0;
    }
    SegmentLayout layout;
    layout.arrange(*state_, session_->device(),
                   fitted(reference_ ? *reference_ : *state_, session_->device(),
                          QSizeF(size.width(), size.height() - 2 * margin), base_options(size)));
    painter.save();
    painter.setClipRect(QRect(QPoint(), size));
    painter.translate(margin, margin);
    SegmentPainter().paint(painter, scene(layout), QRect(-margin, -margin, size.width(), size.height()));
    painter.restore();
    return same_width_ ? 0 : layout.options().bytes_per_pixel;
}

void SegmentCanvas::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    refit_ = true;
    arrange();
}

void SegmentCanvas::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange) {
        refit_ = true;
        arrange();
    }
}

// --- Zoom and scroll --------------------------------------------------------------------------------------------

void SegmentCanvas::set_scale(double bytes_per_pixel, double zoom) {
    zoom_mode_ = Zoom::free;
    double largest = 1;
    for (const SegmentState& s : state_->segments) {
        largest = std::max(largest, static_cast<double>(s.size));
    }
    bytes_per_pixel_ = std::clamp(bytes_per_pixel, finest_scale, std::max(largest / 8, finest_scale));
    const double longest_zoom = largest / finest_scale / layout_.options().line_width;
    zoom_ = std::clamp(zoom, 1.0, std::max(longest_zoom, 1.0));
    arrange();
}

void SegmentCanvas::zoom_at(double factor, QPointF point) {
    if (!state_ || layout_.segments().empty()) {
        return;
    }
    const auto anchor = layout_.hit(to_map(point));
    const double relative = verticalScrollBar()->value() / std::max(1.0, static_cast<double>(layout_.height()));
    set_scale(bytes_per_pixel_ / factor, zoom_ * factor);
    if (anchor) {
        const double y = layout_.position(layout_.segments()[anchor->placed], anchor->offset).y();
        verticalScrollBar()->setValue(static_cast<int>(y + margin + layout_.options().bar_height / 2.0 - point.y()));
    } else {
        verticalScrollBar()->setValue(static_cast<int>(relative * layout_.height()));
    }
}

void SegmentCanvas::zoom_by(double factor) {
    if (focused_) {
        const auto placed = layout_.placed_of(focused_->segment);
        const double offset =
            static_cast<double>(block_of(*state_, *focused_).address - state_->segments[focused_->segment].address);
        const QPointF at = layout_.position(layout_.segments()[*placed], offset) +
                           QPointF(margin + 1, margin + 1 - verticalScrollBar()->value());
        if (viewport()->rect().contains(at.toPoint())) {
            zoom_at(factor, at);
            return;
        }
    }
    zoom_at(factor, QRectF(viewport()->rect()).center());
}

void SegmentCanvas::fit() {
    zoom_mode_ = Zoom::fitted;
    arrange();
}

void SegmentCanvas::scroll_to(int top, int bottom) {
    const int height = viewport()->height();
    const int value = verticalScrollBar()->value();
    if (bottom - top > height || top < value || bottom > value + height) {
        verticalScrollBar()->setValue(bottom - top > height ? top : (top + bottom - height) / 2);
    }
}

void SegmentCanvas::zoom_to_segment(uint32_t state_index) {
    if (!state_ || state_index >= state_->segments.size()) {
        return;
    }
    // The segment gets half the area, so that its surroundings stay visible.
    const double lines = std::max(1, viewport()->height() / layout_.options().pitch() / 2);
    const double size = static_cast<double>(state_->segments[state_index].size);
    set_scale(size / (lines * layout_.options().line_width), lines);
    const PlacedSegment& placed = layout_.segments()[*layout_.placed_of(state_index)];
    verticalScrollBar()->setValue(placed.top + margin - layout_.options().header_height);
}

void SegmentCanvas::zoom_to_block(BlockRef block) {
    const double wanted = static_cast<double>(block_of(*state_, block).size) / (layout_.options().line_width / 4);
    const double current =
        same_width_ ? static_cast<double>(state_->segments[block.segment].size) / (layout_.options().line_width * zoom_)
                    : bytes_per_pixel_;
    if (wanted < current) {
        set_scale(bytes_per_pixel_ * wanted / current, zoom_ * current / wanted);
    }
    set_focus_block(block);
}

/// One visible line of a long block is enough.
bool SegmentCanvas::is_visible(BlockRef block) const {
    const auto placed = layout_.placed_of(block.segment);
    if (!placed) {
        return false;
    }
    const Block& b = block_of(*state_, block);
    const double offset = static_cast<double>(b.address - state_->segments[block.segment].address);
    const QRect shown = visible_area();
    const auto pieces =
        layout_.pieces(layout_.segments()[*placed], offset, offset + static_cast<double>(b.size), 1, shown);
    return std::any_of(pieces.begin(), pieces.end(), [&](const QRectF& piece) {
        return piece.bottom() <= shown.bottom() && piece.top() >= shown.top();
    });
}

void SegmentCanvas::ensure_visible(BlockRef block) {
    const auto placed = layout_.placed_of(block.segment);
    if (!placed || is_visible(block)) {
        return;
    }
    const double offset =
        static_cast<double>(block_of(*state_, block).address - state_->segments[block.segment].address);
    const int top = static_cast<int>(layout_.position(layout_.segments()[*placed], offset).y());
    scroll_to(top, top + layout_.options().bar_height + 2 * margin);
}

}  // namespace tidemark::gui
