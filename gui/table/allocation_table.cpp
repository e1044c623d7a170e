// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/allocation_table.h"

#include <QAction>
#include <QCheckBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
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
#include "gui/widgets/ask_path.h"
#include "gui/widgets/delimited.h"
#include "gui/widgets/table_style.h"
#include "gui/widgets/tool_button.h"
#include "storage/base/units.h"

namespace tidemark::gui {

namespace {
constexpr int typing_pause = 180;  // milliseconds without a key before the filter runs
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
    make_table();
    note_ = new QLabel(this);
    note_->setAlignment(Qt::AlignCenter);
    note_->setWordWrap(true);
    note_->setMargin(24);
    note_->setAttribute(Qt::WA_TransparentForMouseEvents);
    counts_ = new QLabel(this);
    counts_->setAccessibleName(tr("What is shown"));
    counts_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    progress_ = new QProgressBar(this);
    progress_->setMaximumSize(140, 12);
    progress_->setTextVisible(false);
    progress_->setRange(0, 100);
    progress_->hide();
    cancel_export_ = tool_button(tr("Cancel"), tr("Cancel the export"));
    cancel_export_->hide();
    connect(cancel_export_, &QToolButton::clicked, this, &AllocationTable::cancel_export);

    auto* status = new QHBoxLayout;
    status->setContentsMargins(10, 0, 10, 4);
    status->addWidget(counts_, 1);
    status->addWidget(progress_);
    status->addWidget(cancel_export_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(make_filters());
    layout->addWidget(table_, 1);
    layout->addLayout(status);

    delay_.setSingleShot(true);
    connect(&delay_, &QTimer::timeout, this, &AllocationTable::request);
    progress_timer_.setInterval(120);
    connect(&progress_timer_, &QTimer::timeout, this, &AllocationTable::show_progress);
    set_session(nullptr);
}

QWidget* AllocationTable::make_filters() {
    auto* bar = new QWidget(this);
    const auto field = [&](const QString& hint, const QString& tip, int width) {
        auto* edit = new QLineEdit(bar);
        edit->setPlaceholderText(hint);
        edit->setToolTip(tip);
        edit->setAccessibleName(tip);
        edit->setClearButtonEnabled(true);
        edit->setMaximumWidth(width);
        edit->setMinimumWidth(width / 2);
        connect(edit, &QLineEdit::textChanged, this, [this] { schedule(typing_pause); });
        return edit;
    };
    const auto check = [&](const QString& text, const QString& tip) {
        auto* box = new QCheckBox(text, bar);
        box->setToolTip(tip);
        connect(box, &QCheckBox::toggled, this, [this] { schedule(0); });
        return box;
    };
    text_ =
        field(tr("Function, file or line"), tr("Part of a function, a file or file:line, anywhere in the stack"), 400);
    min_ = field(tr("from 1 MiB"), tr("Smallest block size"), 110);
    max_ = field(tr("to 2 GiB"), tr("Largest block size"), 110);
    address_ = field(tr("Address 0x…"), tr("Blocks that cover this address"), 160);
    alive_ = check(tr("Alive at cursor"), tr("Only what is in use at the cursor"));
    only_stack_ = check(tr("Selected stack"), tr("Only allocations of the selected stack"));
    never_freed_ = check(tr("Never freed"), tr("Only what was alive when the trace ended"));
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(8, 4, 8, 0);
    row->addWidget(text_, 3);
    for (QWidget* w : std::initializer_list<QWidget*>{min_, max_, address_, alive_, only_stack_, never_freed_}) {
        row->addWidget(w);
    }
    row->addStretch(1);
    auto* find = new QShortcut(QKeySequence::Find, this);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, this, &AllocationTable::focus_filter);
    return bar;
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
    header->moveSection(static_cast<int>(AllocationColumn::category), static_cast<int>(AllocationColumn::stream));
    connect(header, &QHeaderView::sortIndicatorChanged, this, [this](int column, Qt::SortOrder order) {
        sort_by_ = static_cast<AllocationColumn>(column);
        descending_ = order == Qt::DescendingOrder;
        schedule(0);
    });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) { select_row(current.row()); });
    connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) { select_row(index.row()); });

    auto* copy = new QAction(tr("Copy rows"), this);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(copy, &QAction::triggered, this, &AllocationTable::copy_selection);
    auto* save = new QAction(tr("Export as CSV…"), this);
    connect(save, &QAction::triggered, this, [this] {
        ask_path_to_write(this, tr("Export allocations"), QStringLiteral("allocations.csv"), {tr("CSV files (*.csv)")},
                          [this](const QString& path) { export_csv(path); });
    });
    table_->addActions({copy, save});
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
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
    asked_analysis_.reset();
    model_->show(nullptr, nullptr);
    if (session_) {
        const Selection& selection = session_->selection();
        connect(&selection, &Selection::time_point_changed, this, [this] {
            if (alive_->isChecked()) {
                schedule(scrubbing_pause);
            }
        });
        connect(&selection, &Selection::selected_changed, this, [this] {
            if (only_stack_->isChecked()) {
                schedule(scrubbing_pause);
            }
            show_selection();
        });
        connect(&selection, &Selection::device_changed, this, [this] { schedule(0); });
        connect(session_, &Session::grouping_changed, this, &AllocationTable::update_colors);
        connect(session_, &Session::grown, this, &AllocationTable::follow_growth);
        connect(&session_->graph_source(), &GraphSource::changed, this, &AllocationTable::show_known_columns);
        connect(&selection, &Selection::time_point_changed, table_->viewport(), qOverload<>(&QWidget::update));
        update_colors();
        show_known_columns();
        schedule(0);
    }
    show_counts();
    show_note();
}

void AllocationTable::update_colors() {
    const Theme theme = Theme::current();
    model_->set_color_of([groups = session_->shared_groups(), theme, session = session_](AllocationIndex a) {
        const Grouping& grouping = groups->grouping;
        const EventNumber time_point = session ? session->selection().state().time_point : 0;
        return a < grouping.group_of.size() ? color_of_group(theme, *groups, grouping.group_at(a, time_point))
                                            : theme.unknown;
    });
}

/// Updates at a readable pace, and never during a query, which would then never finish.
void AllocationTable::follow_growth() {
    update_colors();
    show_known_columns();
    if (!delay_.isActive() && !task_.busy()) {
        schedule(growing_pause);
    }
}

/// Hides columns without data: imported snapshots have no operators, modules, phases and categories.
void AllocationTable::show_known_columns() {
    const auto& origins = session_->trace().origins;
    for (const auto column : {AllocationColumn::op, AllocationColumn::module, AllocationColumn::phase}) {
        const bool known = std::any_of(origins.begin(), origins.end(),
                                       [&](const Origin& origin) { return !origin_text(origin, column).empty(); });
        table_->setColumnHidden(static_cast<int>(column), !known);
    }
    const bool categories = session_->categories().known();
    table_->setColumnHidden(static_cast<int>(AllocationColumn::category), !categories);
    model_->set_categories([session = session_] { return session ? session->categories() : CategoryLookup(); });
}

// --- Filter -----------------------------------------------------------------------------------------------------

bool AllocationTable::read_size(QLineEdit* field, uint64_t* bytes) const {
    const QString text = field->text().trimmed();
    const int64_t size = text.isEmpty() ? 0 : parse_bytes(text.toStdString()).value_or(-1);
    const bool valid = size >= 0;
    QPalette colors = palette();
    if (!valid) {
        colors.setColor(QPalette::Text, Theme::current().oom);
    }
    field->setPalette(colors);
    if (valid && !text.isEmpty()) {
        *bytes = static_cast<uint64_t>(size);
    }
    return valid;
}

AllocationQuery AllocationTable::query() const {
    AllocationQuery query;
    const SelectionState& selected = session_->selection().state();
    query.text = text_->text().trimmed().toStdString();
    read_size(min_, &query.min_taken);
    read_size(max_, &query.max_taken);
    if (!address_->text().trimmed().isEmpty()) {
        query.address = parse_address(address_->text());
        QPalette colors = palette();
        if (!query.address) {
            colors.setColor(QPalette::Text, Theme::current().oom);
        }
        address_->setPalette(colors);
    }
    if (alive_->isChecked()) {
        query.alive_at = selected.time_point;
    }
    if (only_stack_->isChecked()) {
        query.stack = selected.allocation != no_allocation ? session_->device().allocations.stack[selected.allocation]
                                                           : selected.stack;
    }
    query.never_freed = never_freed_->isChecked();
    query.sort_by = sort_by_;
    if (sort_by_ == AllocationColumn::category) {
        query.category_of = session_->categories();
    }
    query.descending = descending_;
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
    if (asked_analysis_ == analysis && asked_ == wanted) {
        return;
    }
    const bool same_device =
        asked_analysis_ != nullptr && asked_analysis_->device().device == analysis->device().device;
    keep_scroll_ = session_->is_live() && same_device && asked_ == wanted;
    if (!session_->is_live() || !same_device) {
        task_.abandon();
        if (asked_analysis_ != analysis) {
            model_->show(nullptr, nullptr);
        }
    }
    asked_ = wanted;
    asked_analysis_ = analysis;
    task_.start([analysis, wanted](Progress& progress) { return find_allocations(*analysis, wanted, progress); });
    progress_timer_.start();
    show_note();
}

void AllocationTable::show_rows(std::shared_ptr<const AllocationRows> rows) {
    following_ = true;
    const int scroll = table_->verticalScrollBar()->value();
    model_->show(asked_analysis_, std::move(rows));
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
                              count_text(session_->device().allocations.size()), bytes_text(rows->taken),
                              bytes_text(rows->requested)));
    counts_->setToolTip(tr("%1 in blocks, %2 requested, summed over all lifetimes")
                            .arg(exact_bytes_text(rows->taken), exact_bytes_text(rows->requested)));
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
               : asked_.stack.has_value() || !only_stack_->isChecked()
                   ? tr("No allocation passes the filters.")
                   : tr("No stack is selected. Select one, or clear “Selected stack”.");
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

void AllocationTable::focus_filter() {
    text_->setFocus(Qt::ShortcutFocusReason);
    text_->selectAll();
}

// --- Copy and export --------------------------------------------------------------------------------------------

void AllocationTable::copy_selection() { copy_rows(*table_); }

void AllocationTable::export_csv(const QString& path) {
    if (!model_->rows() || !asked_analysis_) {
        emit export_finished(path, tr("There is nothing to export."));
        return;
    }
    AllocationExport wanted{asked_analysis_, *model_->rows(), model_->categories(), {}, path};
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
