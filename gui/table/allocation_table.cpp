// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/allocation_table.h"

#include <QAction>
#include <QDataStream>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
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
#include "gui/widgets/ask_path.h"
#include "gui/widgets/delimited.h"
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
      export_task_(this, OnNewerRequest::cancel_running, [this](const std::shared_ptr<const ExportOutcome>& outcome) {
          show_progress();
          emit export_finished(outcome->path, outcome->error);
      }) {
    setAccessibleName(tr("All allocations"));
    make_filters();
    make_table();
    note_ = new QLabel(this);
    note_->setAlignment(Qt::AlignCenter);
    note_->setWordWrap(true);
    note_->setMargin(24);
    note_->setAttribute(Qt::WA_TransparentForMouseEvents);
    counts_ = new QLabel(this);
    counts_->setAccessibleName(tr("Number and size of the listed allocations"));
    counts_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    progress_ = new QProgressBar(this);
    progress_->setMaximumSize(140, 12);
    progress_->setTextVisible(false);
    progress_->setRange(0, 100);
    progress_->hide();
    cancel_export_ = tool_button(tr("Cancel"), tr("Cancel the export"), [this] { cancel_export(); });
    cancel_export_->hide();

    auto* status = new QHBoxLayout;
    status->setContentsMargins(10, 0, 10, 4);
    status->addWidget(counts_, 1);
    status->addWidget(progress_);
    status->addWidget(cancel_export_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(filters_);
    layout->addWidget(table_, 1);
    layout->addLayout(status);

    delay_.setSingleShot(true);
    connect(&delay_, &QTimer::timeout, this, &AllocationTable::request);
    progress_timer_.setInterval(120);
    connect(&progress_timer_, &QTimer::timeout, this, &AllocationTable::show_progress);
    set_session(nullptr);
}

void AllocationTable::make_filters() {
    filters_ = new AllocationFilters(this);
    connect(filters_, &AllocationFilters::changed, this, [this](bool typing) { schedule(typing ? typing_pause : 0); });
    auto* find = new QShortcut(QKeySequence::Find, this);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, this, &AllocationTable::focus_filter);
}

void AllocationTable::make_table() {
    table_ = new QTableView(this);
    table_->setModel(model_);
    table_->setAccessibleName(tr("Allocations"));
    set_table_style(table_);
    QHeaderView* header = table_->horizontalHeader();
    header->setSectionsMovable(true);
    header->setStretchLastSection(true);
    header->setSortIndicator(static_cast<int>(sort_by_), Qt::DescendingOrder);
    header->setSortIndicatorShown(true);
    header->setSectionsClickable(true);
    const char* const widest[] = {"#before 000",
                                  "0x7f0000000000",
                                  "1023 MiB ",
                                  "1023 MiB ",
                                  "1023 KiB ",
                                  "000.000000 s",
                                  "000.000000 s",
                                  "000.00 ms ",
                                  "stream 0x7f00",
                                  "default pool 00",
                                  "model.py:1234 forward_attention_ → scaled",
                                  "model.py ",
                                  "aten::scaled_dot_product",
                                  "layers.11.attention",
                                  "backward ",
                                  "saved for backward "};
    for (int column = 0; column < allocation_column_count; ++column) {
        const int text = fontMetrics().horizontalAdvance(QString::fromLatin1(widest[column]));
        const int title =
            fontMetrics().horizontalAdvance(AllocationModel::title(static_cast<AllocationColumn>(column)));
        table_->setColumnWidth(column, std::max(text, title + 16) + 20);
    }
    // The allocation site and the category matter more than addresses and pools, which may need scrolling.
    int place = 0;
    for (const auto column : {AllocationColumn::line, AllocationColumn::block_size, AllocationColumn::category,
                              AllocationColumn::lifetime, AllocationColumn::id}) {
        header->moveSection(header->visualIndex(static_cast<int>(column)), place++);
    }
    connect(header, &QHeaderView::sortIndicatorChanged, this, [this](int column, Qt::SortOrder order) {
        sort_by_ = static_cast<AllocationColumn>(column);
        descending_ = order == Qt::DescendingOrder;
        schedule(0);
    });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) { select_row(current.row()); });
    connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) { select_row(index.row()); });
    make_menus();
}

void AllocationTable::make_menus() {
    auto* copy = new QAction(tr("Copy rows"), this);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(copy, &QAction::triggered, this, &AllocationTable::copy_selection);
    auto* markdown = new QAction(tr("Copy rows as Markdown"), this);
    connect(markdown, &QAction::triggered, this, &AllocationTable::copy_selection_as_markdown);
    auto* save = new QAction(tr("Export as CSV…"), this);
    connect(save, &QAction::triggered, this, [this] {
        ask_path_to_write(this, tr("Export allocations"), QStringLiteral("allocations.csv"), {tr("CSV files (*.csv)")},
                          [this](const QString& path) { export_csv(path); });
    });
    auto* columns = new QMenu(tr("Columns"), this);
    known_.set();
    wanted_.set();
    for (int i = 0; i < allocation_column_count; ++i) {
        const auto column = static_cast<AllocationColumn>(i);
        QAction* shown = columns->addAction(AllocationModel::title(column));
        shown->setCheckable(true);
        shown->setEnabled(column != AllocationColumn::line);  // at least one column stays
        connect(shown, &QAction::triggered, this, [this, column](bool on) { set_column_wanted(column, on); });
        column_actions_.push_back(shown);
    }
    table_->addActions({copy, markdown, save, columns->menuAction()});
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
    table_->horizontalHeader()->addActions(columns->actions());
    table_->horizontalHeader()->setContextMenuPolicy(Qt::ActionsContextMenu);
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

/// Imported snapshots have no operators, modules, phases and categories.
void AllocationTable::find_known_columns() {
    const auto& origins = session_->trace().origins;
    known_.set();
    for (const auto column : {AllocationColumn::op, AllocationColumn::module, AllocationColumn::phase}) {
        known_[static_cast<size_t>(column)] = std::any_of(
            origins.begin(), origins.end(), [&](const Origin& origin) { return !origin_text(origin, column).empty(); });
    }
    known_[static_cast<size_t>(AllocationColumn::category)] = session_->categories().known();
    model_->set_categories([session = session_] { return session ? session->categories() : CategoryLookup(); });
    show_columns();
}

void AllocationTable::show_columns() {
    for (size_t column = 0; column < wanted_.size(); ++column) {
        table_->setColumnHidden(static_cast<int>(column), !known_[column] || !wanted_[column]);
        column_actions_[column]->setVisible(known_[column]);
        column_actions_[column]->setChecked(wanted_[column]);
    }
}

void AllocationTable::set_column_wanted(AllocationColumn column, bool wanted) {
    wanted_[static_cast<size_t>(column)] = wanted;
    show_columns();
}

bool AllocationTable::shows_column(AllocationColumn column) const {
    return !table_->isColumnHidden(static_cast<int>(column));
}

QByteArray AllocationTable::save_state() const {
    QByteArray state;
    QDataStream out(&state, QIODevice::WriteOnly);
    out << static_cast<quint32>(wanted_.to_ulong()) << table_->horizontalHeader()->saveState();
    return state;
}

/// Ignores a state of another version, which has another number of columns.
void AllocationTable::restore_state(const QByteArray& state) {
    QDataStream in(state);
    quint32 wanted = 0;
    QByteArray header;
    in >> wanted >> header;
    const auto width = static_cast<size_t>(allocation_column_count);
    if (in.status() == QDataStream::Ok && wanted >> width == 0 && table_->horizontalHeader()->restoreState(header)) {
        wanted_ = wanted;
        wanted_.set(static_cast<size_t>(AllocationColumn::line));
        show_columns();
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
               : requested_.stack.has_value() || requested_.memory || !filters_->follows_selection()
                   ? tr("No allocation passes the filters.")
                   : tr("Nothing is selected. Select a finding or a stack, or clear “Selection”.");
    }
    note_->setText(note);
    note_->setVisible(!note.isEmpty());
    note_->setGeometry(table_->geometry());
    note_->raise();
}

// --- Selection --------------------------------------------------------------------------------------------------

void AllocationTable::select_row(int row) {
    const AllocationIndex a = model_->allocation_at(row);
    if (!following_ && session_ && a != no_allocation && session_->selection().state().allocation != a) {
        following_ = true;
        session_->selection().select_allocation(a);
        following_ = false;
    }
}

void AllocationTable::show_selection(bool scroll_there) {
    if (following_ || !session_ || !model_->rows()) {
        return;
    }
    following_ = true;
    const int row = model_->row_of(session_->selection().state().allocation);
    if (row >= 0) {
        const int column = std::max(0, table_->currentIndex().column());
        table_->selectionModel()->setCurrentIndex(model_->index(row, column),
                                                  QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        const int scroll = table_->horizontalScrollBar()->value();
        if (scroll_there) {
            table_->scrollTo(model_->index(row, column), QAbstractItemView::EnsureVisible);
        }
        table_->horizontalScrollBar()->setValue(scroll);
    } else {
        table_->clearSelection();
        table_->setCurrentIndex({});
    }
    following_ = false;
}

void AllocationTable::show_selection_only() { filters_->show_selection_only(); }

void AllocationTable::focus_filter() { filters_->focus_text(); }

// --- Copy and export --------------------------------------------------------------------------------------------

void AllocationTable::copy_selection() { copy_rows(*table_); }
void AllocationTable::copy_selection_as_markdown() { copy_rows_as_markdown(*table_); }

void AllocationTable::export_csv(const QString& path) {
    if (!model_->rows() || !requested_analysis_) {
        emit export_finished(path, tr("There is nothing to export."));
        return;
    }
    AllocationExport wanted{requested_analysis_, *model_->rows(), model_->categories(), {}, path};
    for (int column = 0; column < allocation_column_count; ++column) {
        wanted.header << AllocationModel::title(static_cast<AllocationColumn>(column));
    }
    export_task_.start(
        [wanted = std::move(wanted)](Progress& progress) { return write_allocations(wanted, progress); });
    progress_timer_.start();
}

void AllocationTable::cancel_export() {
    export_task_.abandon();
    show_progress();
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
