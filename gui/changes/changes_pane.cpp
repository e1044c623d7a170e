// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/changes/changes_pane.h"

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>

#include "gui/changes/comparison_plot.h"
#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "gui/widgets/pane_note.h"
#include "gui/widgets/table_style.h"
#include "gui/widgets/text_block.h"
#include "gui/widgets/toolbar.h"
#include "storage/report/difference.h"

namespace tidemark::gui {

namespace {

constexpr int dragging_pause = 60;  // milliseconds: a range that is dragged changes all the time
constexpr int tall = 460;           // pixels: a pane that fills the stage has the plot above the table
constexpr int low = 340;            // pixels: with less, the plot of two runs cannot be read

/// Returns a number that a box can have; real steps have no others.
int box_number(int64_t step) { return static_cast<int>(std::clamp<int64_t>(step, 0, std::numeric_limits<int>::max())); }

void name_step_box(QSpinBox* box, const QString& name) {
    box->setAccessibleName(name);
    box->setPrefix(ChangesPane::tr("%1: ", "before a number").arg(name));
}

}  // namespace

ChangesPane::ChangesPane(QWidget* parent)
    : QWidget(parent),
      model_(new ChangesModel(this)),
      task_(this, OnNewerRequest::cancel_running, [this](auto shown) { take(std::move(shown)); }) {
    setAccessibleName(tr("Changes within the selected time range"));
    make_bar_controls();
    auto* bar = new Toolbar(this);
    for (QWidget* control : std::initializer_list<QWidget*>{by_, step_a_, step_b_, other_device_, points_, compare_,
                                                            swap_, stop_, summary_}) {
        bar->add(control);
    }
    plot_ = new ComparisonPlot;
    make_table();
    split_ = new QSplitter(Qt::Horizontal, this);
    split_->addWidget(plot_);
    split_->addWidget(make_rows());
    split_->setChildrenCollapsible(false);
    split_->setHandleWidth(5);
    split_->setSizes({1000, 1000});
    note_ = make_pane_note(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(bar);
    column->addWidget(split_, 1);
    table_->installEventFilter(this);
    delay_.setSingleShot(true);
    delay_.setInterval(dragging_pause);
    connect(&delay_, &QTimer::timeout, this, &ChangesPane::request);
    connect(by_, &QComboBox::activated, this, &ChangesPane::choose_grouping);
    show_mode();
    set_session(nullptr);
}

void ChangesPane::make_bar_controls() {
    by_ = new QComboBox(this);
    by_->setAccessibleName(tr("Group by"));
    for (const GroupOption& option : group_options()) {
        by_->addItem(group_option_name(option));
    }
    compare_ = new QPushButton(tr("Compare with another trace…"), this);
    connect(compare_, &QPushButton::clicked, this, &ChangesPane::trace_requested);
    swap_ = new QPushButton(tr("Swap A and B"), this);
    swap_->setObjectName(QStringLiteral("swap"));
    connect(swap_, &QPushButton::clicked, this, &ChangesPane::swap_requested);
    stop_ = new QPushButton(tr("Stop comparing"), this);
    connect(stop_, &QPushButton::clicked, this, &ChangesPane::stop_requested);
    step_a_ = make_step_box();
    step_b_ = make_step_box();
    name_step_box(step_a_, tr("Step A"));
    name_step_box(step_b_, tr("Step B"));
    other_device_ = new QComboBox(this);
    other_device_->setAccessibleName(tr("Device of the other trace"));
    other_device_->setPlaceholderText(tr("Device of B"));
    connect(other_device_, &QComboBox::activated, this, &ChangesPane::select_other_device);
    points_ = new QComboBox(this);
    points_->setAccessibleName(tr("Points in time to compare"));
    points_->addItems({tr("Each at its peak"), tr("Each at its end"), tr("Both at the cursor")});
    connect(points_, &QComboBox::activated, this, &ChangesPane::request);
    summary_ = new QLabel(this);
    summary_->setAccessibleName(tr("Change of the whole memory"));
    summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
}

QSpinBox* ChangesPane::make_step_box() {
    auto* box = new QSpinBox(this);
    box->setKeyboardTracking(false);
    connect(box, &QSpinBox::valueChanged, this, [this] { compare_steps({step_a_->value(), step_b_->value()}); });
    return box;
}

void ChangesPane::make_table() {
    table_ = new QTableView;
    table_->setModel(model_);
    table_->setAccessibleName(tr("Changes by group"));
    set_table_style(table_);
    table_->setTextElideMode(Qt::ElideMiddle);  // lines of one file differ at their ends
    table_->horizontalHeader()->setSectionResizeMode(ChangesModel::name, QHeaderView::Stretch);
    table_->horizontalHeader()->setMinimumSectionSize(fontMetrics().averageCharWidth() * 12);
    table_->setColumnWidth(ChangesModel::kind, fontMetrics().averageCharWidth() * 12);
    for (int column = ChangesModel::difference; column < ChangesModel::column_count; ++column) {
        table_->setColumnWidth(column, fontMetrics().horizontalAdvance(QStringLiteral("1,023 MiB (1,234)")) + 16);
    }
    table_->setSortingEnabled(true);
    table_->sortByColumn(ChangesModel::difference, Qt::DescendingOrder);
    add_copy_actions(table_);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) { select_row(current.row()); });
}

/// The table, and below it the source of its selected row.
QWidget* ChangesPane::make_rows() {
    row_source_ = new TextBlock(tr("Source of the selected row"));
    row_source_->hide();
    auto* rows = new QWidget;
    auto* column = new QVBoxLayout(rows);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(table_, 1);
    column->addWidget(row_source_);
    return rows;
}

void ChangesPane::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
        session_->graph_source().disconnect(this);
    }
    discard_runs();
    chosen_by_.reset();
    session_ = session != nullptr && session->has_device() ? session : nullptr;
    plot_->set_session(session_);
    model_->show(nullptr);
    if (session_) {
        by_->setCurrentIndex(place_of(session_->group_option()));
        follow_session();
    }
    schedule();
}

void ChangesPane::follow_session() {
    connect(&session_->selection(), &Selection::time_point_changed, this, &ChangesPane::follow_cursor);
    connect(&session_->selection(), &Selection::range_moved, this, &ChangesPane::schedule);
    connect(&session_->selection(), &Selection::selected_changed, this, [this] {
        if (mode() == ComparedPoints::range) {
            schedule();
        }
    });
    connect(&session_->selection(), &Selection::device_changed, this, [this] {
        discard_runs();
        select_same_device();
        schedule();
    });
    connect(session_, &Session::grown, this, [this] {
        discard_runs();
        schedule();
    });
    connect(session_, &Session::live_changed, this, &ChangesPane::show_mode);
    connect(&session_->graph_source(), &GraphSource::changed, this, &ChangesPane::schedule);
    connect(session_, &Session::grouping_changed, this, &ChangesPane::follow_grouping);
}

QString ChangesPane::summary() const { return summary_->text(); }

QString ChangesPane::note() const { return note_->isHidden() ? QString() : note_->text(); }

// --- Computing --------------------------------------------------------------------------------------------------

/// Also drops a result on its way, which is of other runs.
void ChangesPane::discard_runs() {
    task_.abandon();
    runs_ = nullptr;
}

void ChangesPane::schedule() {
    if (!delay_.isActive()) {
        delay_.start();
    }
}

void ChangesPane::request() {
    stale_ = !isVisible();
    if (stale_) {
        return;
    }
    const GroupOption& by = group_options()[static_cast<size_t>(by_->currentIndex())];
    const ComparedPoints now = mode();
    if (session_ && now == ComparedPoints::traces && !needs_device_) {
        request_traces(by);
    } else if (session_ && now == ComparedPoints::steps) {
        request_steps(by);
    } else if (session_ && now == ComparedPoints::range && session_->selection().state().range) {
        request_range(by);
    } else {
        show_nothing();
    }
}

void ChangesPane::request_range(const GroupOption& by) {
    const auto range = session_->selection().state().range;
    const TimeView& view = session_->time_view();
    task_.start([run = DeviceToCompare(*session_), begin = view.point_at(range->first),
                 end = view.point_at(range->second),
                 by](Progress&) { return std::make_shared<const ShownChanges>(changes_in_run(run, begin, end, by)); });
}

void ChangesPane::request_traces(const GroupOption& by) {
    task_.start([a = DeviceToCompare(*session_), b = DeviceToCompare(*other_),
                 cursor = session_->selection().state().time_point, points = points(), by, runs = runs_](Progress&) {
        return std::make_shared<const ShownChanges>(changes_between_traces(a, b, cursor, points, by, runs));
    });
}

void ChangesPane::request_steps(const GroupOption& by) {
    task_.start([run = DeviceToCompare(*session_), iterations = session_->shared_iterations(),
                 cursor = session_->selection().state().time_point, points = points(), by, runs = runs_,
                 asked = asked_step_, steps = steps_](Progress&) {
        const auto numbers = asked ? steps_at(*run.analysis, iterations->get(), asked->point, asked->other) : steps;
        ShownChanges shown;
        shown.reason = iterations->get().empty() ? NoChanges::nothing_repeats : NoChanges::no_other_step;
        return std::make_shared<const ShownChanges>(
            numbers ? changes_between_steps(run, iterations, *numbers, cursor, points, by, runs) : std::move(shown));
    });
}

void ChangesPane::show_nothing() {
    task_.abandon();
    shown_ = nullptr;
    runs_ = nullptr;
    plot_->show_changes(nullptr);
    plot_->hide();
    row_source_->hide();
    model_->show(nullptr);
    summary_->clear();
    show_note();
}

void ChangesPane::take(std::shared_ptr<const ShownChanges> shown) {
    shown_ = std::move(shown);
    runs_ = shown_->runs;
    const bool has_table = shown_->reason == NoChanges::none;
    summary_->setText(has_table ? summary_of(*shown_) : QString());
    summary_->setToolTip(has_table && shown_->of_traces
                             ? tip_text(to_qstring(renamed_files_sentence(*shown_->of_traces, reader_words())))
                             : QString());
    plot_->setVisible(runs_ != nullptr);
    plot_->show_changes(shown_);
    row_source_->hide();
    model_->show(has_table ? std::shared_ptr<const Changes>(shown_, &shown_->changes) : nullptr, mode(),
                 session_ ? &session_->trace().stacks : nullptr);
    take_steps();
    show_note();
}

/// Shows the numbers of the steps that were found.
void ChangesPane::take_steps() {
    if (!shown_->iterations) {
        return;
    }
    const Iterations& found = shown_->iterations->get();
    asked_step_.reset();
    steps_ = shown_->steps;
    const bool are_steps = found.source() == IterationSource::steps;
    name_step_box(step_a_, are_steps ? tr("Step A") : tr("Iteration A"));
    name_step_box(step_b_, are_steps ? tr("Step B") : tr("Iteration B"));
    for (const auto& [box, number] : {std::pair(step_a_, steps_->a), std::pair(step_b_, steps_->b)}) {
        const QSignalBlocker blocker(box);
        box->setRange(box_number(found[0].number), box_number(found.all().back().number));
        box->setValue(box_number(number));
    }
}

// --- Words ------------------------------------------------------------------------------------------------------

QString ChangesPane::summary_of(const ShownChanges& shown) const {
    const ChangedGroup& total = shown.changes.total;
    const QString a = bytes_text(total.begin.bytes), b = bytes_text(total.end.bytes),
                  change = change_text(total.difference()), made = bytes_text(total.made.bytes),
                  freed = bytes_text(total.freed.bytes);
    switch (mode()) {
        case ComparedPoints::range:
            return tr("Active memory: %1 → %2 (%3) · new %4 · freed %5").arg(a, b, change, made, freed);
        case ComparedPoints::steps:
            return tr("A, %1: %2 · B, %3: %4 (%5) · only in B %6 · only in A %7")
                .arg(shown.runs->a.name(), a, shown.runs->b.name(), b, change, made, freed);
        case ComparedPoints::traces: break;
    }
    return tr("A: %1 · B: %2 (%3)").arg(a, b, change);
}

QString ChangesPane::note_of_reason() const {
    switch (shown_->reason) {
        case NoChanges::none: break;
        case NoChanges::nothing_repeats:
            return tr(
                "No steps were recorded, and nothing else repeats in this trace. Drag over a plot to compare two "
                "points in time.");
        case NoChanges::no_other_step: return tr("There is no such step to compare with.");
        case NoChanges::outside_other:
            return other_ ? tr("B has nothing at the place of the cursor. Move the cursor, or compare each at its "
                               "peak.")
                          : tr("The other step is shorter. Move the cursor, or compare each step at its peak.");
        case NoChanges::outside_steps:
            return tr("The cursor is in neither step. Click into the plot, or compare each step at its peak.");
        case NoChanges::no_common_axis:
            return tr(
                "Only one of the traces has times, so they have no common axis. Compare each at its peak or at "
                "its end.");
    }
    return tr("Nothing is allocated at either point in time.");
}

void ChangesPane::show_note() {
    QString note;
    if (needs_device_) {
        note = tr("B has no device %1. Select one of its devices above.").arg(session_ ? session_->device().device : 0);
    } else if (!shown_) {
        note =
            tr("Drag over a plot to select a time range. This pane then shows what grew, what shrank, what is new "
               "and what was freed within it. Or compare with another trace, or two steps of this one.");
    } else if (model_->rowCount() == 0) {
        note = note_of_reason();
    }
    note_->setText(note);
    note_->setVisible(!note.isEmpty());
    place_note();
    note_->raise();
}

void ChangesPane::place_note() { note_->setGeometry(QRect(table_->mapTo(this, QPoint(0, 0)), table_->size())); }

void ChangesPane::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    show_note();
    if (stale_) {
        request();
    }
}

bool ChangesPane::eventFilter(QObject* object, QEvent* event) {
    if (object == table_ && (event->type() == QEvent::Resize || event->type() == QEvent::Move)) {
        show_columns();
        place_note();
    }
    return QWidget::eventFilter(object, event);
}

bool ChangesPane::is_low() const { return height() < low; }

void ChangesPane::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    split_->setOrientation(height() >= tall ? Qt::Vertical : Qt::Horizontal);
}

}  // namespace tidemark::gui
