// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/histograms/histograms_pane.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/model/text.h"
#include "gui/widgets/pane_note.h"
#include "gui/widgets/toolbar.h"

namespace tidemark::gui {

namespace {
constexpr int moving_pause = 40;  // milliseconds: several moves of the cursor cause one request
constexpr int live_pause = 250;   // a growing run moves the cursor all the time
}  // namespace

HistogramsPane::HistogramsPane(QWidget* parent)
    : QWidget(parent),
      task_(this, OnNewerRequest::finish_running,
            [this](std::shared_ptr<const ShownHistograms> shown) { take(std::move(shown)); }) {
    setAccessibleName(tr("Histograms"));
    sizes_ = new HistogramView(true, this);
    lifetimes_ = new HistogramView(false, this);
    note_ = make_pane_note(this);
    auto* views = new QHBoxLayout;
    views->setSpacing(6);
    views->addWidget(sizes_, 1);
    views->addWidget(lifetimes_, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(make_toolbar());
    layout->addLayout(views, 1);
    connect(sizes_, &HistogramView::brushed, this, [this](const std::optional<BinRange>& range, bool is_final) {
        brush(size_brush_, *sizes_, range, is_final);
    });
    connect(lifetimes_, &HistogramView::brushed, this, [this](const std::optional<BinRange>& range, bool is_final) {
        brush(lifetime_brush_, *lifetimes_, range, is_final);
    });
    delay_.setSingleShot(true);
    connect(&delay_, &QTimer::timeout, this, &HistogramsPane::request);
    set_session(nullptr);
}

QWidget* HistogramsPane::make_toolbar() {
    memory_ = new QComboBox;
    memory_->addItem(tr("At the cursor"), static_cast<int>(HistogramMemory::at_cursor));
    memory_->addItem(tr("In the visible range"), static_cast<int>(HistogramMemory::in_view));
    memory_->addItem(tr("The selected memory"), static_cast<int>(HistogramMemory::of_finding));
    memory_->setItemData(1, tr("Everything that is allocated at some point of the time range that the plots show"),
                         Qt::ToolTipRole);
    memory_->setItemData(2, tr("Select a finding that is about allocations, or a row of Changes"), Qt::ToolTipRole);
    memory_->setAccessibleName(tr("Memory of the histograms"));
    measure_ = new QComboBox;
    measure_->addItem(tr("Number of allocations"), static_cast<int>(HistogramMeasure::allocations));
    measure_->addItem(tr("Bytes"), static_cast<int>(HistogramMeasure::bytes));
    measure_->setAccessibleName(tr("Height of the bars"));
    unit_ = new QComboBox;
    unit_->addItems({tr("Lifetimes in time"), tr("Lifetimes in iterations")});
    unit_->setAccessibleName(tr("Unit of the lifetimes"));
    clear_ = tool_button(tr("Clear range"), tr("Clear the selected ranges (Esc)"), [this] { clear_brush(); });
    summary_ = new QLabel;
    summary_->setAccessibleName(tr("Allocations of the histograms"));
    summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* bar = new Toolbar(this);
    for (QWidget* control : std::initializer_list<QWidget*>{memory_, measure_, unit_, clear_}) {
        bar->add(control);
    }
    bar->add_right(summary_);
    connect(memory_, &QComboBox::currentIndexChanged, this, &HistogramsPane::request);
    connect(unit_, &QComboBox::currentIndexChanged, this, [this] {
        if (lifetime_brush_) {
            brush(lifetime_brush_, *lifetimes_, std::nullopt, true);  // its values have another unit
        }
        request();
    });
    connect(measure_, &QComboBox::currentIndexChanged, this, [this] {
        const auto measure = static_cast<HistogramMeasure>(measure_->currentData().toInt());
        sizes_->set_measure(measure);
        lifetimes_->set_measure(measure);
    });
    return bar;
}

void HistogramsPane::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
        session_->time_view().disconnect(this);
    }
    task_.abandon();
    delay_.stop();
    session_ = session && session->has_device() ? session : nullptr;
    shown_ = nullptr;
    size_brush_.reset();
    lifetime_brush_.reset();
    brushed_ = nullptr;
    if (session_) {
        const Selection& selection = session_->selection();
        connect(&selection, &Selection::time_point_changed, this, [this] {
            if (memory() == HistogramMemory::at_cursor) {
                schedule();
            }
        });
        connect(&selection, &Selection::selected_changed, this, &HistogramsPane::follow_selection);
        connect(&selection, &Selection::device_changed, this, [this] {
            task_.abandon();
            shown_ = nullptr;
            schedule();
        });
        connect(&session_->time_view(), &TimeView::changed, this, [this] {
            if (memory() == HistogramMemory::in_view) {
                schedule();
            }
        });
        connect(session_, &Session::grown, this, &HistogramsPane::follow_growth);
    }
    follow_selection();
    show_numbers();
    request();
}

// --- What to count ----------------------------------------------------------------------------------------------

HistogramMemory HistogramsPane::memory() const { return static_cast<HistogramMemory>(memory_->currentData().toInt()); }

bool HistogramsPane::has_memory(HistogramMemory memory) const {
    return memory != HistogramMemory::of_finding || finding_ != nullptr;
}

void HistogramsPane::set_memory(HistogramMemory memory) {
    memory_->setCurrentIndex(memory_->findData(static_cast<int>(memory)));
}

void HistogramsPane::set_measure(HistogramMeasure measure) {
    measure_->setCurrentIndex(measure_->findData(static_cast<int>(measure)));
}

void HistogramsPane::set_by_iterations(bool by_iterations) { unit_->setCurrentIndex(by_iterations ? 1 : 0); }

/// What others select ends the brush: one memory is selected at a time.
void HistogramsPane::follow_selection() {
    const AllocationSet selected = session_ ? session_->selection().state().memory : nullptr;
    if (brushed_ && selected == brushed_) {
        return;
    }
    const bool had_brush = has_brush();
    brushed_ = nullptr;
    size_brush_.reset();
    lifetime_brush_.reset();
    const bool is_other = selected != finding_;
    finding_ = selected;
    finding_name_ = session_ ? session_->selection().state().memory_name : QString();
    const auto* items = static_cast<QStandardItemModel*>(memory_->model());
    items->item(memory_->findData(static_cast<int>(HistogramMemory::of_finding)))->setEnabled(finding_ != nullptr);
    if (!has_memory(memory())) {
        set_memory(HistogramMemory::at_cursor);
    } else if (is_other && memory() == HistogramMemory::of_finding) {
        schedule();
    }
    if (had_brush) {
        show_numbers();
    }
}

/// The selection has the same allocations under other numbers.
void HistogramsPane::follow_growth() {
    if (brushed_ && memory() == HistogramMemory::of_finding) {
        brushed_ = nullptr;  // the part stays selected; what it is a part of has lost its numbers
        follow_selection();
    } else if (brushed_) {
        brushed_ = session_->selection().state().memory;
    } else {
        finding_ = session_->selection().state().memory;
    }
    schedule();
}

void HistogramsPane::schedule() {
    if (session_ && !delay_.isActive()) {
        delay_.start(session_->is_live() ? live_pause : moving_pause);
    }
}

void HistogramsPane::request() {
    stale_ = !isVisible();
    if (session_ && !stale_) {
        const SelectionState& state = session_->selection().state();
        const TimeView& view = session_->time_view();
        HistogramRequest wanted{session_->shared_analysis(),
                                session_->shared_iterations(),
                                memory(),
                                state.time_point,
                                {view.point_at(view.from()), view.point_at(view.to())},
                                finding_,
                                unit_->currentIndex() == 1};
        task_.start([wanted = std::move(wanted)](Progress&) {
            return std::make_shared<const ShownHistograms>(make_histograms(wanted));
        });
    }
    show_note();
}

void HistogramsPane::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (stale_) {
        request();
    }
}

void HistogramsPane::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    note_->setGeometry(rect());
}

// --- Results ----------------------------------------------------------------------------------------------------

void HistogramsPane::take(std::shared_ptr<const ShownHistograms> shown) {
    shown_ = std::move(shown);
    const auto* items = static_cast<QStandardItemModel*>(unit_->model());
    items->item(1)->setEnabled(shown_->has_iterations);
    items->item(1)->setToolTip(shown_->has_iterations ? QString() : tr("Nothing repeats in this run"));
    if (!shown_->has_iterations && unit_->currentIndex() == 1) {
        unit_->setCurrentIndex(0);
    }
    if (brushed_) {
        select_brushed(false);
    }
    show_numbers();
}

void HistogramsPane::show_numbers() {
    const auto sizes = bins_of(size_brush_, HistogramOf::size);
    const auto lifetimes = bins_of(lifetime_brush_, HistogramOf::lifetime);
    sizes_->show(shown_, sizes, lifetimes);
    lifetimes_->show(shown_, lifetimes, sizes);
    clear_->setEnabled(has_brush());
    QString text;
    if (shown_) {
        const HistogramAmount total = shown_->histograms.total();
        text = amount_text(total);
        if (brushed_) {
            text = tr("%1 selected of %2").arg(count_text(static_cast<int64_t>(brushed_->size())), text);
        }
    }
    summary_->setText(text);
    show_note();
}

QString HistogramsPane::summary() const { return summary_->text(); }

void HistogramsPane::show_note() {
    QString note;
    if (!session_) {
        note = tr("No trace is open. Open one to see how large its allocations are and how long they stay.");
    } else if (!shown_) {
        note = tr("Counting the allocations…");
    } else if (shown_->histograms.sizes().empty()) {
        note = shown_->request.memory == HistogramMemory::at_cursor ? tr("Nothing is allocated at the cursor.")
                                                                    : tr("Nothing is allocated in the visible range.");
    }
    note_->setText(note);
    note_->setVisible(!note.isEmpty());
    note_->setGeometry(rect());
    note_->raise();
}

// --- Brush ------------------------------------------------------------------------------------------------------

/// Returns the bins that a brush covers now; nothing if there are none.
std::optional<BinRange> HistogramsPane::bins_of(const std::optional<Brush>& brush, HistogramOf of) const {
    if (!brush || !shown_) {
        return std::nullopt;
    }
    const std::vector<HistogramBin>& bins = shown_->bins(of);
    std::optional<BinRange> range;
    for (size_t i = 0; i < bins.size(); ++i) {
        const bool is_inside = bins[i].never_freed ? brush->last.never_freed
                                                   : !brush->first.never_freed && bins[i].from >= brush->first.from &&
                                                         (brush->last.never_freed || bins[i].to <= brush->last.to);
        if (is_inside) {
            range = BinRange{range ? range->first : i, i};
        }
    }
    return range;
}

void HistogramsPane::brush(std::optional<Brush>& brush, const HistogramView& view, const std::optional<BinRange>& range,
                           bool is_final) {
    if (range) {
        const std::vector<HistogramBin>& bins = shown_->bins(view.kind());
        brush = Brush{bins[range->first], bins[range->last]};
    } else {
        brush.reset();
    }
    if (is_final && has_brush()) {
        select_brushed(true);
        emit memory_selected();
    } else if (is_final) {
        clear_brush();
    }
    show_numbers();
}

/// Selects the allocations of the brushed bins in every pane.
void HistogramsPane::select_brushed(bool is_step) {
    const auto sizes = bins_of(size_brush_, HistogramOf::size);
    const auto lifetimes = bins_of(lifetime_brush_, HistogramOf::lifetime);
    const bool is_empty = (size_brush_ && !sizes) || (lifetime_brush_ && !lifetimes);
    auto allocations = is_empty ? std::vector<AllocationIndex>() : shown_->histograms.allocations_in(sizes, lifetimes);
    brushed_ = std::make_shared<const std::vector<AllocationIndex>>(std::move(allocations));
    session_->selection().select_memory(brushed_, brush_name(), is_step);
}

QString HistogramsPane::brush_name() const {
    QStringList parts;
    if (size_brush_) {
        parts << tr("size %1").arg(bin_text(HistogramOf::size, size_brush_->first, size_brush_->last));
    }
    if (lifetime_brush_) {
        const QString text = bin_text(lifetimes_->kind(), lifetime_brush_->first, lifetime_brush_->last);
        parts << (lifetime_brush_->first.never_freed ? text : tr("lifetime %1").arg(text));
    }
    return facts_text(parts);
}

void HistogramsPane::clear_brush() {
    size_brush_.reset();
    lifetime_brush_.reset();
    if (std::exchange(brushed_, nullptr) && session_) {
        // What the brush was a part of is selected again.
        const bool is_part = memory() == HistogramMemory::of_finding;
        session_->selection().select_memory(is_part ? finding_ : nullptr, is_part ? finding_name_ : QString());
    }
    show_numbers();
}

}  // namespace tidemark::gui
