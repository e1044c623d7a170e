// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/allocation_table.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QScrollBar>
#include <QShortcut>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/model/grouping.h"
#include "gui/model/palette.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "gui/table/allocation_filters.h"
#include "gui/widgets/pane_note.h"
#include "gui/widgets/table_style.h"
#include "gui/widgets/toolbar.h"

namespace tidemark::gui {

namespace {
constexpr int typing_pause = 180;  // milliseconds without a key before the query runs
constexpr int scrubbing_pause = 60;
constexpr int growing_pause = 500;
}  // namespace

AllocationTable::AllocationTable(QWidget* parent)
    : QWidget(parent),
      model_(new AllocationModel(this)),
      task_(this, OnNewerRequest::cancel_running,
            [this](std::shared_ptr<const AllocationRows> rows) { show_rows(std::move(rows)); }),
      export_task_(this, OnNewerRequest::cancel_running,
                   [this](const std::shared_ptr<const ExportOutcome>& outcome) { finish_export(*outcome); }) {
    setAccessibleName(tr("All allocations"));
    make_filters();
    make_table();
    make_status();
    note_ = make_pane_note(this);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(filters_);
    layout->addWidget(chips_);
    layout->addWidget(table_, 1);
    layout->addWidget(status_);

    delay_.setSingleShot(true);
    connect(&delay_, &QTimer::timeout, this, &AllocationTable::request);
    progress_timer_.setInterval(120);
    connect(&progress_timer_, &QTimer::timeout, this, &AllocationTable::show_progress);
    set_session(nullptr);
}

void AllocationTable::make_filters() {
    filters_ = new AllocationFilters(this);
    connect(filters_, &AllocationFilters::changed, this, [this](bool typing) {
        schedule(typing ? typing_pause : 0);
        show_chips();
    });
    chips_ = new FilterChips(this);
    auto* find = new QShortcut(QKeySequence::Find, this);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, this, &AllocationTable::focus_filter);
}

void AllocationTable::make_status() {
    counts_ = new QLabel(this);
    counts_->setAccessibleName(tr("Number and size of the listed allocations"));
    counts_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    progress_ = new QProgressBar(this);
    progress_->setMaximumSize(140, 12);
    progress_->setTextVisible(false);
    progress_->setRange(0, 100);
    progress_->hide();
    result_ = new QLabel(this);
    result_->setAccessibleName(tr("Result of the export"));
    result_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    result_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    result_->setWordWrap(true);
    result_->hide();
    cancel_export_ = tool_button(tr("Cancel"), tr("Cancel the export"), [this] { cancel_export(); });
    cancel_export_->hide();

    status_ = new QWidget(this);
    auto* status = new QHBoxLayout(status_);
    status->setContentsMargins(10, 0, 10, 4);
    status->addWidget(counts_);
    status->addStretch(1);
    status->addWidget(result_, 4);
    status->addWidget(progress_);
    status->addWidget(cancel_export_);
}

void AllocationTable::make_table() {
    table_ = new QTableView(this);
    table_->setModel(model_);
    table_->setAccessibleName(tr("Allocations"));
    set_table_style(table_);
    table_->installEventFilter(this);
    make_header();
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) { select_row(current.row()); });
    connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) {
        select_row(index.row());
        if (index.column() == static_cast<int>(AllocationColumn::line) && model_->group_at(index.row()) != nullptr) {
            toggle_group(index.row());
        }
    });
    make_menus();
}

void AllocationTable::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
        session_->selection().disconnect(table_->viewport());
        session_->graph_source().disconnect(this);
    }
    task_.abandon();
    empty_trace_ = session && !session->has_device();
    session_ = session && session->has_device() ? session : nullptr;
    requested_analysis_.reset();
    model_->show(nullptr, nullptr);
    filters_->set_session(session_);
    chips_->show_chips({});
    show_result({});
    if (session_) {
        const Selection& selection = session_->selection();
        connect(&selection, &Selection::time_point_changed, this, [this] {
            if (filters_->follows_cursor()) {
                schedule(scrubbing_pause);
            }
        });
        connect(&selection, &Selection::selected_changed, this, [this] {
            if (filters_->follows_selection()) {
                schedule(scrubbing_pause);
                show_chips();
            }
            show_selection();
        });
        connect(&selection, &Selection::device_changed, this, [this] { schedule(0); });
        connect(session_, &Session::grouping_changed, this, &AllocationTable::update_colors);
        connect(session_, &Session::grown, this, &AllocationTable::follow_growth);
        connect(&session_->graph_source(), &GraphSource::changed, this, &AllocationTable::find_known_columns);
        connect(&selection, &Selection::time_point_changed, table_->viewport(), qOverload<>(&QWidget::update));
        update_colors();
        find_known_columns();
        schedule(0);
    }
    show_counts();
    show_note();
}

void AllocationTable::update_colors() {
    const Theme theme = Theme::current();
    model_->set_color_of([groups = session_->shared_groups(), theme, session = session_](AllocationIndex a) {
        const Grouping& grouping = groups->grouping;
        const TimePoint time_point = session ? session->selection().state().time_point : TimePoint();
        return session && a < grouping.group_of.size()
                   ? color_of_group(theme, *groups,
                                    grouping.group_at(a, state_at(session->device().allocations, a, time_point)))
                   : theme.unknown;
    });
}

/// Updates at a readable pace, and not during a query, which would not finish otherwise.
void AllocationTable::follow_growth() {
    update_colors();
    find_known_columns();
    if (!delay_.isActive() && !task_.busy()) {
        schedule(growing_pause);
    }
}

// --- Query ------------------------------------------------------------------------------------------------------

AllocationQuery AllocationTable::query() const {
    AllocationQuery query = filters_->query(*session_);
    query.sort_by = sort_by_;
    query.descending = descending_;
    if (sort_by_ == AllocationColumn::category) {
        query.category_of = session_->categories();
    }
    return query;
}

void AllocationTable::show_chips() {
    if (session_) {
        chips_->show_chips(filters_->chips(*session_));
    }
}

void AllocationTable::schedule(int milliseconds) { delay_.start(milliseconds); }

void AllocationTable::request() {
    if (!session_) {
        return;
    }
    if (!isVisible()) {
        stale_ = true;
        return;
    }
    stale_ = false;
    const AllocationQuery wanted = query();
    const auto analysis = session_->shared_analysis();
    if (requested_analysis_ == analysis && requested_ == wanted) {
        return;
    }
    const bool same_device =
        requested_analysis_ != nullptr && requested_analysis_->device().device == analysis->device().device;
    keep_scroll_ = session_->is_live() && same_device && requested_ == wanted;
    if (!session_->is_live() || !same_device) {
        task_.abandon();
        if (requested_analysis_ != analysis) {
            model_->show(nullptr, nullptr);
        }
    }
    requested_ = wanted;
    requested_analysis_ = analysis;
    task_.start([analysis, wanted](Progress& progress) { return find_allocations(*analysis, wanted, progress); });
    progress_timer_.start();
    show_note();
}

void AllocationTable::show_rows(std::shared_ptr<const AllocationRows> rows) {
    following_ = true;
    const int scroll = table_->verticalScrollBar()->value();
    model_->show(requested_analysis_, std::move(rows));
    following_ = false;
    if (session_) {
        find_known_columns();
    }
    show_progress();
    show_counts();
    show_note();
    if (keep_scroll_) {
        show_selection(false);
        table_->verticalScrollBar()->setValue(scroll);
    } else {
        table_->scrollToTop();
        show_selection();
    }
}

void AllocationTable::show_counts() {
    const AllocationRows* rows = model_->rows();
    if (!session_ || !rows) {
        counts_->clear();
        return;
    }
    counts_->setText(tr("%1 of %2 allocation(s) · %3 in blocks, %4 requested", nullptr,
                        plural(session_->device().allocations.size()))
                         .arg(count_text(static_cast<int64_t>(rows->rows.size())),
                              count_text(session_->device().allocations.size()), bytes_text(rows->block_bytes),
                              bytes_text(rows->requested)));
    counts_->setToolTip(tr("%1 in blocks, %2 requested, summed over all lifetimes")
                            .arg(exact_bytes_text(rows->block_bytes), exact_bytes_text(rows->requested)));
}

void AllocationTable::show_note() {
    QString note;
    if (!session_) {
        note = empty_trace_ ? tr("This trace has no memory events of any device.")
                            : tr("No trace is open. Open one to see its allocations.");
    } else if (!model_->rows()) {
        note = tr("Reading the allocations…");
    } else if (model_->rowCount() == 0) {
        note = session_->device().allocations.size() == 0 ? tr("The trace has no allocation of this device.")
               : requested_.stack.has_value() || requested_.memory || !filters_->follows_memory()
                   ? tr("No allocation passes the filters.")
                   : tr("Nothing is selected. Select a finding or a stack, or remove the filter “Selection”.");
    }
    note_->setText(note);
    note_->setVisible(!note.isEmpty());
    note_->setGeometry(table_->geometry());
    note_->raise();
}

void AllocationTable::show_progress() {
    const bool exporting = export_task_.busy();
    progress_->setVisible(exporting || task_.busy());
    progress_->setValue(static_cast<int>(100 * (exporting ? export_task_.fraction() : task_.fraction())));
    progress_->setAccessibleName(exporting ? tr("Exporting") : tr("Filtering and sorting"));
    cancel_export_->setVisible(exporting);
    if (!exporting && !task_.busy()) {
        progress_timer_.stop();
    }
}

void AllocationTable::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (stale_) {
        request();
    }
}

void AllocationTable::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    note_->setGeometry(table_->geometry());
}

void AllocationTable::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && session_) {
        update_colors();
    }
}

}  // namespace tidemark::gui
