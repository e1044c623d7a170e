// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/segments/segment_map.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QTextDocument>
#include <QVBoxLayout>

#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "gui/segments/map_legend.h"
#include "gui/widgets/steady_text.h"
#include "gui/widgets/toolbar.h"

namespace tidemark::gui {

namespace {
constexpr int least_canvas = 48;  // pixels
constexpr int low_map = 260;      // pixels; in a lower one, the segments need the room of the legend

/// Returns a block of an ascending set of allocations: one that is visible, else the largest.
std::optional<BlockRef> block_to_show(const SegmentCanvas& canvas, const MemoryState& state,
                                      const AllocationSet& memory) {
    std::optional<BlockRef> largest;
    if (!memory) {
        return largest;
    }
    for (uint32_t s = 0; s < state.segments.size(); ++s) {
        const auto& blocks = state.segments[s].blocks;
        for (uint32_t b = 0; b < blocks.size(); ++b) {
            if (!contains(memory, blocks[b].allocation)) {
                continue;
            }
            if (canvas.is_visible({s, b})) {
                return BlockRef{s, b};
            }
            if (!largest || blocks[b].size > block_of(state, *largest).size) {
                largest = BlockRef{s, b};
            }
        }
    }
    return largest;
}
}  // namespace

SegmentMap::SegmentMap(QWidget* parent)
    : QWidget(parent),
      reference_task_(this, OnNewerRequest::cancel_running,
                      [this](std::shared_ptr<const MemoryState> s) { canvas_->set_reference(std::move(s)); }) {
    setAccessibleName(tr("Segments at the cursor"));
    figures_ = new SteadyText(tr("Figures at the cursor"), Qt::RichText, this);
    fragmentation_ = new SteadyText(tr("What fragmentation means"), Qt::PlainText, this);
    canvas_ = new SegmentCanvas(this);
    legend_ = new MapLegend(this);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(make_toolbar());
    layout->addWidget(figures_);
    layout->addWidget(fragmentation_);
    canvas_->setMinimumHeight(least_canvas);  // it scrolls, the legend does not
    layout->addWidget(canvas_, 1);
    layout->addWidget(legend_);

    connect(canvas_, &SegmentCanvas::scale_changed, legend_, &MapLegend::set_scale);
    connect(&state_, &CursorState::changed, this, &SegmentMap::show_state);
    state_.set_active(false);
    set_session(nullptr);
}

QWidget* SegmentMap::make_toolbar() {
    colors_ = new QComboBox;
    for (const auto& [name, by] :
         {std::pair(tr("Color: group"), MapColors::group), std::pair(tr("Color: category"), MapColors::category),
          std::pair(tr("Color: age"), MapColors::age), std::pair(tr("Color: size"), MapColors::size),
          std::pair(tr("Color: stream"), MapColors::stream), std::pair(tr("Color: state"), MapColors::state)}) {
        colors_->addItem(name, static_cast<int>(by));
    }
    colors_->setAccessibleName(tr("Meaning of the colors"));
    colors_->setToolTip(tr("Group: the same colors as in the timeline"));
    order_ = new QComboBox;
    order_->addItem(tr("Order: age"), static_cast<int>(SegmentOrder::age));
    order_->addItem(tr("Order: size"), static_cast<int>(SegmentOrder::size));
    order_->addItem(tr("Order: address"), static_cast<int>(SegmentOrder::address));
    order_->setAccessibleName(tr("Order of segments"));
    same_width_ = new QCheckBox(tr("Same width"));
    same_width_->setToolTip(tr("Every segment fills a line, whatever its size"));
    address_ = input_field(tr("Find address 0x…"), tr("Find an address"));
    address_->setMaximumWidth(200);
    found_ = new QLabel;
    found_->setTextFormat(Qt::PlainText);
    found_->setAccessibleName(tr("Search result"));
    auto* bar = new Toolbar(this);
    for (QWidget* control : std::initializer_list<QWidget*>{colors_, order_, same_width_}) {
        bar->add(control);
    }
    bar->add_zoom([this](double factor) { canvas_->zoom_by(factor); }, [this] { canvas_->fit(); });
    bar->add(address_);
    bar->add(found_);
    connect(colors_, &QComboBox::currentIndexChanged, this, [this] {
        const auto by = static_cast<MapColors>(colors_->currentData().toInt());
        canvas_->set_colors(by);
        legend_->set_colors(by);
    });
    connect(order_, &QComboBox::currentIndexChanged, this,
            [this] { canvas_->set_order(static_cast<SegmentOrder>(order_->currentData().toInt())); });
    connect(same_width_, &QCheckBox::toggled, canvas_, &SegmentCanvas::set_same_width);
    connect(address_, &QLineEdit::returnPressed, this, [this] { find_address(address_->text()); });
    connect(address_, &QLineEdit::textEdited, this, [this] { show_search_result({}, false); });
    return bar;
}

void SegmentMap::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
    }
    reference_task_.abandon();
    session_ = session && session->has_device() ? session : nullptr;
    canvas_->set_note(session ? tr("This trace has no memory events of any device.")
                              : tr("No trace is open. Open one to see its segments at the cursor."));
    canvas_->set_session(session_);
    legend_->set_session(session_);
    if (session_) {
        canvas_->set_note(tr("The allocator has no segment at the cursor: nothing is reserved."));
        connect(&session_->selection(), &Selection::selected_changed, this, &SegmentMap::follow_selection);
        connect(&session_->selection(), &Selection::device_changed, this, [this] {
            canvas_->set_reference(nullptr);
            measure_reference();
        });
        connect(session_, &Session::grown, this, &SegmentMap::follow_growth);
        measure_reference();
    }
    show_search_result({}, false);
    state_.set_session(session_);
    show_figures();
}

void SegmentMap::measure_reference() {
    reserved_peak_ = session_->analysis().curves().peak(Series::reserved).max_event;
    reference_task_.start([analysis = session_->shared_analysis(), peak = reserved_peak_](Progress&) {
        return std::make_shared<const MemoryState>(memory_state(analysis->device(), analysis->live(), peak));
    });
}

void SegmentMap::follow_growth() {
    if (session_->analysis().curves().peak(Series::reserved).max_event != reserved_peak_ && !reference_task_.busy()) {
        measure_reference();
    }
}

void SegmentMap::show_state() {
    canvas_->set_state(state_.state());
    show_figures();
    if (follow_later_) {
        follow_selection();
        follow_later_ = false;
    }
}

void SegmentMap::show_figures() {
    const auto state = state_.state();
    const bool known = session_ && state;
    figures_->show_text(known ? figures_text(session_->trace(), *state) : QString());
    fragmentation_->show_text(known ? with_whole_units(fragmentation_text(*session_, *state)) : QString());
    figures_->setVisible(known);
    fragmentation_->setVisible(!fragmentation_->text().isEmpty());
}

void SegmentMap::follow_selection() {
    const auto state = state_.state();
    std::optional<BlockRef> block;
    if (session_ && state && isVisible()) {
        const SelectionState& selected = session_->selection().state();
        block = selected.allocation != no_allocation ? find_block(*state, session_->device(), selected.allocation)
                                                     : block_to_show(*canvas_, *state, selected.memory);
    }
    if (block) {
        canvas_->ensure_visible(*block);
    }
    follow_later_ = !block;  // the selection may have moved the cursor, whose state is still to come
}

void SegmentMap::show_search_result(const QString& text, bool problem) {
    found_->setText(text);
    found_->setToolTip(tip_text(text));
    QPalette colors = palette();
    colors.setColor(QPalette::WindowText, problem ? Theme::current().oom : Theme::current().faint_text);
    found_->setPalette(colors);
}

void SegmentMap::find_address(const QString& text) {
    state_.ensure_current();
    const auto state = state_.state();
    const auto address = parse_address(text);
    if (!session_ || !state || !address) {
        show_search_result(address ? QString() : tr("Not an address: type 0x… or digits."), true);
        return;
    }
    const auto ref = find_block_at(*state, *address);
    if (!ref) {
        show_search_result(tr("No segment contains this address at the cursor."), true);
        return;
    }
    const SegmentState& segment = state->segments[ref->segment];
    const Block& block = segment.blocks[ref->block];
    if (block.allocation != no_allocation) {
        session_->selection().select_allocation(block.allocation);
        show_search_result(
            tr("%1 into a block of %2").arg(bytes_text(*address - block.address), bytes_text(block.size)), false);
    } else {
        session_->selection().select_segment(segment.segment);
        show_search_result(tr("free at the cursor: a free gap of %1").arg(bytes_text(block.size)), false);
    }
    canvas_->zoom_to_block(*ref);
}

QString figures_text(const Trace& trace, const MemoryState& state) {
    const auto figure = [](const QString& name, const QString& value, const QString& tip) {
        return QStringLiteral("<span title='%3'>%1&nbsp;<b>%2</b></span>")
            .arg(name.toHtmlEscaped().replace(u' ', QStringLiteral("&nbsp;")),
                 QString(value).replace(u' ', QStringLiteral("&nbsp;")), tip);
    };
    const auto bytes = [&](const QString& name, uint64_t value) {
        return figure(name, bytes_text(value), exact_bytes_text(value));
    };
    if (trace.event_source == EventSource::driver) {
        return bytes(SegmentMap::tr("allocated"), state.allocated);
    }
    QStringList list;
    list << bytes(SegmentMap::tr("reserved"), state.reserved) << bytes(SegmentMap::tr("allocated"), state.allocated);
    list << bytes(SegmentMap::tr("pending free"), state.pending);
    list << bytes(SegmentMap::tr("in %1 free gap(s)", nullptr, plural(state.gaps)).arg(count_text(state.gaps)),
                  state.free_in_gaps);
    list << bytes(SegmentMap::tr("largest free gap"), state.largest_gap);
    list << bytes(SegmentMap::tr("in cached segments"), state.free_in_cached_segments);
    return list.join(QStringLiteral(" &nbsp;&nbsp;· &nbsp;&nbsp;"));
}

namespace {

/// Free memory for a large request: the large segments of the pool and stream with most memory.
struct LargeSegments {
    uint32_t pool = 0, stream = 0;
    uint64_t reserved = 0, free = 0, largest = 0;
};

LargeSegments main_large_segments(const DeviceHistory& device, const MemoryState& state) {
    std::vector<LargeSegments> rooms;
    for (const SegmentState& s : state.segments) {
        const Segment& segment = device.segments[s.segment];
        if (!segment.is_large) {
            continue;
        }
        if (rooms.empty() || rooms.back().pool != segment.pool || rooms.back().stream != segment.stream) {
            rooms.push_back({segment.pool, segment.stream, 0, 0, 0});
        }
        rooms.back().reserved += s.size;
        rooms.back().free += s.free();
        for (const Block& b : s.blocks) {
            if (b.state == BlockState::inactive) {
                rooms.back().largest = std::max(rooms.back().largest, b.size);
            }
        }
    }
    const auto most = std::max_element(rooms.begin(), rooms.end(), [](const LargeSegments& a, const LargeSegments& b) {
        return a.reserved < b.reserved;
    });
    return most == rooms.end() ? LargeSegments{} : *most;
}

}  // namespace

QString fragmentation_text(const Session& session, const MemoryState& state) {
    if (session.trace().event_source == EventSource::driver) {
        return QString();
    }
    if (const QString place = place_sentence(state.point.repeated); !place.isEmpty()) {
        return SegmentMap::tr("%1. Its addresses were not recorded, so free gaps may differ.").arg(place);
    }
    const LargeSegments room = main_large_segments(session.device(), state);
    if (room.reserved == 0) {
        return SegmentMap::tr(
            "There is no segment for large blocks: any request above 1 MiB needs new memory from the driver.");
    }
    const QString where =
        facts_text({pool_text(session.trace(), room.pool), stream_text(session.trace(), room.stream)});
    if (room.largest <= uint64_t{1} << 20) {
        return SegmentMap::tr("Any request above 1 MiB (%1) needs new memory from the driver.").arg(where);
    }
    const QString text = room.free == room.largest
                             ? SegmentMap::tr("A request above %1 (%2) needs new memory from the driver.")
                                   .arg(bytes_text(room.largest), where)
                             : SegmentMap::tr(
                                   "A request above %1 (%2) needs new memory from the driver, although %3 of its large "
                                   "segments are free.")
                                   .arg(bytes_text(room.largest), where, bytes_text(room.free));
    // The figure above the sentence is of all segments, also of those for small blocks.
    return state.largest_gap > room.largest
               ? text + u' ' + SegmentMap::tr("The largest free gap serves other requests.")
               : text;
}

void SegmentMap::render_to(QPainter& painter, QSize size) {
    const Theme theme = Theme::current();
    painter.fillRect(QRect(QPoint(), size), theme.plot_background);
    state_.ensure_current();
    int top = 0;
    if (session_ && state_.state()) {
        const EventNumber peak = session_->analysis().curves().peak(Series::reserved).max_event;
        const auto reference =
            std::make_shared<const MemoryState>(memory_state(session_->device(), session_->analysis().live(), peak));
        canvas_->set_reference(reference);
        canvas_->set_state(state_.state());
        QTextDocument text;
        text.setDefaultFont(font());
        text.setDocumentMargin(0);
        text.setTextWidth(size.width() - 20);
        QStringList lines{figures_text(session_->trace(), *state_.state()),
                          fragmentation_text(*session_, *state_.state()).toHtmlEscaped()};
        lines.removeAll(QString());
        text.setHtml(QStringLiteral("<div style='color:%1'>%2</div>")
                         .arg(theme.text.name(), lines.join(QStringLiteral("<br>"))));
        painter.save();
        painter.translate(10, 8);
        text.drawContents(&painter);
        painter.restore();
        top = 8 + static_cast<int>(text.size().height());
    }
    const int legend_height = session_ ? legend_->heightForWidth(size.width()) : 0;
    painter.save();
    painter.translate(0, top);
    const double scale = canvas_->render_to(painter, QSize(size.width(), size.height() - top - legend_height));
    painter.restore();
    legend_->paint_into(painter, QRect(0, size.height() - legend_height, size.width(), legend_height), scale);
}

void SegmentMap::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    legend_->set_short(height() < low_map);
}

void SegmentMap::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    state_.set_active(true);
    follow_selection();
}

void SegmentMap::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    state_.set_active(false);
}

void SegmentMap::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        show_search_result(found_->text(), false);
    }
}

}  // namespace tidemark::gui
