#include "gui/view/segment_canvas.h"

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

constexpr int margin = 10;
constexpr double finest_scale = 8;  // bytes per pixel: a 512-byte block is 64 pixels wide
constexpr double wheel_step = 1.25;

const Block& block_of(const MemoryState& state, BlockRef ref) { return state.segments[ref.segment].blocks[ref.block]; }

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
        connect(&session_->selection(), &Selection::selected_changed, this, repaint);
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
    arrange();
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
    // Half the area for the segment: enough to read it, with its surroundings still there.
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

void SegmentCanvas::ensure_visible(BlockRef block) {
    const auto placed = layout_.placed_of(block.segment);
    if (!placed) {
        return;
    }
    const Block& b = block_of(*state_, block);
    const PlacedSegment& segment = layout_.segments()[*placed];
    const double offset = static_cast<double>(b.address - state_->segments[block.segment].address);
    const QRect shown = visible_area();
    for (const QRectF& piece : layout_.pieces(segment, offset, offset + static_cast<double>(b.size), 1, shown)) {
        if (piece.bottom() <= shown.bottom() && piece.top() >= shown.top()) {
            return;  // a line of a long block is enough
        }
    }
    const int top = static_cast<int>(layout_.position(segment, offset).y());
    scroll_to(top, top + layout_.options().bar_height + 2 * margin);
}

// --- Mouse ------------------------------------------------------------------------------------------------------

std::optional<BlockRef> SegmentCanvas::block_near(QPointF map_point) const {
    const auto hit = state_ ? layout_.hit(map_point) : std::nullopt;
    if (!hit) {
        return std::nullopt;
    }
    const PlacedSegment& placed = layout_.segments()[hit->placed];
    const SegmentState& segment = state_->segments[placed.index];
    if (segment.blocks.empty()) {
        return std::nullopt;
    }
    const double bytes_in_pixel = 1 / placed.pixels_per_byte();
    const auto begin = segment.address + static_cast<uint64_t>(std::max(0.0, hit->offset - bytes_in_pixel));
    const auto end = segment.address + static_cast<uint64_t>(hit->offset + bytes_in_pixel);
    BlockRef best{placed.index, block_at(segment, segment.address + static_cast<uint64_t>(hit->offset))};
    if (static_cast<double>(segment.blocks[best.block].size) >= bytes_in_pixel &&
        segment.blocks[best.block].state != BlockState::inactive) {
        return best;
    }
    // Slivers: the largest block in use within a pixel of the pointer.
    uint64_t best_size = 0;
    for (uint32_t i = block_at(segment, begin); i < segment.blocks.size() && segment.blocks[i].address <= end; ++i) {
        if (segment.blocks[i].state != BlockState::inactive && segment.blocks[i].size > best_size) {
            best_size = segment.blocks[i].size;
            best.block = i;
        }
    }
    return best;
}

void SegmentCanvas::mouseMoveEvent(QMouseEvent* event) {
    if (drag_from_ &&
        (dragging_ || (event->pos() - *drag_from_).manhattanLength() > QApplication::startDragDistance())) {
        dragging_ = true;
        viewport()->setCursor(Qt::ClosedHandCursor);
        verticalScrollBar()->setValue(drag_scroll_ + drag_from_->y() - event->pos().y());
        return;
    }
    const auto block = block_near(to_map(event->position()));
    if (block != hovered_) {
        hovered_ = block;
        viewport()->update();
        if (block) {
            show_tip(event->globalPosition().toPoint(), *block);
        } else {
            QToolTip::hideText();
        }
    }
}

void SegmentCanvas::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton || event->button() == Qt::MiddleButton) {
        drag_from_ = event->pos();
        drag_scroll_ = verticalScrollBar()->value();
        dragging_ = false;
    }
}

void SegmentCanvas::mouseReleaseEvent(QMouseEvent* event) {
    const bool click = drag_from_ && !dragging_ && event->button() == Qt::LeftButton;
    drag_from_.reset();
    dragging_ = false;
    viewport()->unsetCursor();
    if (!click || !session_) {
        return;
    }
    if (const auto block = block_near(to_map(event->position()))) {
        select(*block);
    } else {
        session_->clear_choice();
    }
}

void SegmentCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const auto hit = state_ ? layout_.hit(to_map(event->position())) : std::nullopt) {
        zoom_to_segment(layout_.segments()[hit->placed].index);
    } else {
        fit();
    }
}

void SegmentCanvas::wheelEvent(QWheelEvent* event) {
    if ((event->modifiers() & Qt::ControlModifier) == 0) {
        QAbstractScrollArea::wheelEvent(event);
        return;
    }
    zoom_at(std::pow(wheel_step, event->angleDelta().y() / 120.0), event->position());
    event->accept();
}

bool SegmentCanvas::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave && hovered_) {
        hovered_.reset();
        viewport()->update();
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void SegmentCanvas::select(BlockRef block) {
    focused_ = block;
    const Block& b = block_of(*state_, block);
    focus_address_ = b.address;
    if (b.allocation != no_allocation) {
        session_->selection().select_allocation(b.allocation);
    } else {
        session_->selection().select_segment(state_->segments[block.segment].segment);
    }
}

// --- Keys -------------------------------------------------------------------------------------------------------

void SegmentCanvas::keyPressEvent(QKeyEvent* event) {
    if (!state_ || layout_.segments().empty()) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
        case Qt::Key_Left: move_focus(-1); return;
        case Qt::Key_Right: move_focus(1); return;
        case Qt::Key_Up: move_focus_vertically(-1); return;
        case Qt::Key_Down: move_focus_vertically(1); return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (focused_) {
                select(*focused_);
            }
            return;
        case Qt::Key_Plus:
        case Qt::Key_Equal: zoom_by(wheel_step); return;
        case Qt::Key_Minus: zoom_by(1 / wheel_step); return;
        case Qt::Key_0: fit(); return;
        default: QAbstractScrollArea::keyPressEvent(event);
    }
}

std::optional<BlockRef> SegmentCanvas::first_visible_block() const {
    const QRect area = visible_area();
    const auto [first, last] = layout_.visible(area.top(), area.bottom());
    for (uint32_t i = first; i < last; ++i) {
        if (!state_->segments[layout_.segments()[i].index].blocks.empty()) {
            return BlockRef{layout_.segments()[i].index, 0};
        }
    }
    return std::nullopt;
}

void SegmentCanvas::set_focus_block(BlockRef block) {
    focused_ = block;
    focus_address_ = block_of(*state_, block).address;
    ensure_visible(block);
    viewport()->update();
    const QString description = summarise_block(*session_, *state_, block);
    setAccessibleDescription(description);
    emit focus_moved(description);
}

void SegmentCanvas::move_focus(int step) {
    if (!focused_) {
        const auto selected = find_block(*state_, session_->device(), session_->selection().state().allocation);
        if (const auto start = selected ? selected : first_visible_block()) {
            set_focus_block(*start);
        }
        return;
    }
    BlockRef next = *focused_;
    const int block = static_cast<int>(next.block) + step;
    if (block >= 0 && block < static_cast<int>(state_->segments[next.segment].blocks.size())) {
        next.block = static_cast<uint32_t>(block);
    } else {
        const int placed = static_cast<int>(*layout_.placed_of(next.segment)) + step;
        if (placed < 0 || placed >= static_cast<int>(layout_.segments().size())) {
            return;
        }
        next.segment = layout_.segments()[static_cast<size_t>(placed)].index;
        const size_t count = state_->segments[next.segment].blocks.size();
        if (count == 0) {
            return;
        }
        next.block = step > 0 ? 0 : static_cast<uint32_t>(count - 1);
    }
    set_focus_block(next);
}

void SegmentCanvas::move_focus_vertically(int lines) {
    if (!focused_) {
        move_focus(1);
        return;
    }
    const SegmentState& segment = state_->segments[focused_->segment];
    const PlacedSegment& placed = layout_.segments()[*layout_.placed_of(focused_->segment)];
    const Block& block = segment.blocks[focused_->block];
    // From the block's last line downwards, from its first upwards: a block is left at once.
    const double edge = lines > 0 ? static_cast<double>(block.address + block.size - segment.address) - 1
                                  : static_cast<double>(block.address - segment.address);
    QPointF at = layout_.position(placed, edge) + QPointF(0.5, layout_.options().bar_height / 2.0);
    for (int tries = 0; tries < 8; ++tries) {
        at.ry() += lines * layout_.options().pitch();
        for (double x = at.x(); x >= 0; x -= 6) {
            const auto found = block_near({x, at.y()});
            if (found && *found != *focused_) {
                set_focus_block(*found);
                return;
            }
        }
    }
}

// --- Words ------------------------------------------------------------------------------------------------------

namespace {

struct Map {
    Q_DECLARE_TR_FUNCTIONS(tidemark::gui::SegmentMap)
};

QString state_name(BlockState state) {
    switch (state) {
        case BlockState::allocated: return Map::tr("allocated");
        case BlockState::pending_free: return Map::tr("freed, waiting for a stream");
        case BlockState::inactive: break;
    }
    return Map::tr("free");
}

QString place_lines(const Session& session, const SegmentState& segment, uint64_t address) {
    const Segment& s = session.device().segments[segment.segment];
    const QString pool = s.pool_known ? pool_text(session.trace(), s.pool) : Map::tr("pool not recorded");
    return Map::tr("%1, %2 into a segment of %3")
               .arg(address_text(address), bytes_text(address - segment.address), bytes_text(segment.size)) +
           QStringLiteral("<br>") +
           (pool + QStringLiteral(" · ") + stream_text(session.trace(), s.stream)).toHtmlEscaped();
}

}  // namespace

QString summarise_block(const Session& session, const MemoryState& state, BlockRef ref) {
    const Block& block = block_of(state, ref);
    QString text =
        QStringLiteral("%1, %2, %3").arg(bytes_text(block.size), state_name(block.state), address_text(block.address));
    if (block.allocation != no_allocation) {
        text += QStringLiteral(", ") +
                stack_text(session.trace().stacks, session.device().allocations.stack[block.allocation]);
    }
    return text;
}

QString describe_block(const Session& session, const MemoryState& state, BlockRef ref, int others) {
    const SegmentState& segment = state.segments[ref.segment];
    const Block& block = segment.blocks[ref.block];
    QStringList lines;
    lines << QStringLiteral("<b>%1</b> %2").arg(bytes_text(block.size), state_name(block.state));
    if (block.allocation != no_allocation) {
        const DeviceHistory& device = session.device();
        const Allocations& all = device.allocations;
        const AllocationIndex a = block.allocation;
        lines << QStringLiteral("<b>%1</b>").arg(stack_text(session.trace().stacks, all.stack[a]).toHtmlEscaped());
        lines << Map::tr("requested %1").arg(both_bytes_text(all.requested[a]));
        lines << Map::tr("taken %1").arg(both_bytes_text(block.size));
        if (const uint64_t rounding = rounding_of(all, a)) {
            lines << Map::tr("rounding %1, %2 of the block")
                         .arg(both_bytes_text(rounding),
                              percent_text(static_cast<double>(rounding), static_cast<double>(block.size)));
        }
        if (all.alloc_event[a] == before_history) {
            lines << Map::tr("made before the history begins");
        } else {
            lines << Map::tr("made at %1, %2 (%3 events) ago")
                         .arg(time_point_text(device.alloc_time(a)),
                              duration_text(
                                  std::max<int64_t>(0, device.time_of_state(state.event) - device.alloc_time(a))),
                              count_text(state.event - all.alloc_event[a]));
        }
        lines << allocation_text(device, a);
    } else if (segment.cached()) {
        lines << Map::tr("The whole segment is idle: cached, used by nothing.");
    } else {
        lines << Map::tr("A hole between blocks in use.");
    }
    lines << place_lines(session, segment, block.address);
    if (others > 0) {
        lines << Map::tr("%1 more blocks under this pixel: zoom in to see them").arg(count_text(others));
    }
    return QStringLiteral("<div style='white-space:pre'>") + lines.join(QStringLiteral("<br>")) +
           QStringLiteral("</div>");
}

void SegmentCanvas::show_tip(QPoint global, BlockRef block) {
    const auto placed = layout_.placed_of(block.segment);
    const SegmentState& segment = state_->segments[block.segment];
    const double bytes_in_pixel = 1 / layout_.segments()[*placed].pixels_per_byte();
    const Block& b = segment.blocks[block.block];
    int others = 0;
    if (static_cast<double>(b.size) < bytes_in_pixel) {
        const auto end = b.address + static_cast<uint64_t>(bytes_in_pixel);
        for (uint32_t i = block.block + 1; i < segment.blocks.size() && segment.blocks[i].address < end; ++i) {
            others += segment.blocks[i].state != BlockState::inactive;
        }
    }
    QToolTip::showText(global, describe_block(*session_, *state_, block, others), viewport());
}

}  // namespace tidemark::gui
