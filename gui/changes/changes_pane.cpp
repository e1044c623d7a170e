// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/changes/changes_pane.h"

#include <QAction>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "gui/widgets/delimited.h"
#include "gui/widgets/table_style.h"
#include "gui/widgets/toolbar.h"

namespace tidemark::gui {

namespace {

constexpr int dragging_pause = 60;  // milliseconds: a range that is dragged changes all the time

/// The grouping that answers first: by category where that is recorded.
int first_option(const Session& session) {
    const bool has_graph = session.graph() && session.graph()->has_nodes();
    const auto& options = group_options();
    const auto found = std::find_if(options.begin(), options.end(), [&](const GroupOption& option) {
        return option.by == (has_graph ? GroupBy::category : GroupBy::line);
    });
    return found == options.end() ? 0 : static_cast<int>(found - options.begin());
}

}  // namespace

ChangesPane::ChangesPane(QWidget* parent)
    : QWidget(parent),
      model_(new ChangesModel(this)),
      task_(this, OnNewerRequest::cancel_running, [this](auto changes) { take(changes); }) {
    setAccessibleName(tr("Changes within the selected time range"));
    by_ = new QComboBox(this);
    by_->setAccessibleName(tr("Group by"));
    for (const GroupOption& option : group_options()) {
        by_->addItem(group_option_name(option));
    }
    summary_ = new QLabel(this);
    summary_->setAccessibleName(tr("Change of the whole memory"));
    summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* bar = new Toolbar(this);
    bar->add(by_);
    bar->add(summary_);
    make_table();
    note_ = new QLabel(this);
    note_->setAlignment(Qt::AlignCenter);
    note_->setWordWrap(true);
    note_->setMargin(24);
    note_->setAttribute(Qt::WA_TransparentForMouseEvents);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(bar);
    column->addWidget(table_, 1);
    delay_.setSingleShot(true);
    delay_.setInterval(dragging_pause);
    connect(&delay_, &QTimer::timeout, this, &ChangesPane::request);
    connect(by_, &QComboBox::activated, this, &ChangesPane::request);
    set_session(nullptr);
}

void ChangesPane::make_table() {
    table_ = new QTableView(this);
    table_->setModel(model_);
    table_->setAccessibleName(tr("Changes by group"));
    set_table_style(table_);
    table_->horizontalHeader()->setSectionResizeMode(ChangesModel::name, QHeaderView::Stretch);
    for (int column = ChangesModel::difference; column < ChangesModel::column_count; ++column) {
        table_->setColumnWidth(column, fontMetrics().horizontalAdvance(QStringLiteral("1,023 MiB (1,234,567)")) + 16);
    }
    table_->setSortingEnabled(true);
    table_->sortByColumn(ChangesModel::difference, Qt::DescendingOrder);
    auto* copy = new QAction(tr("Copy rows"), table_);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(copy, &QAction::triggered, this, [this] { copy_rows(*table_); });
    auto* markdown = new QAction(tr("Copy rows as Markdown"), table_);
    connect(markdown, &QAction::triggered, this, [this] { copy_rows_as_markdown(*table_); });
    table_->addActions({copy, markdown});
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) { select_row(current.row()); });
}

void ChangesPane::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
        session_->graph_source().disconnect(this);
    }
    task_.abandon();
    session_ = session != nullptr && session->has_device() ? session : nullptr;
    model_->show(nullptr);
    if (session_) {
        by_->setCurrentIndex(first_option(*session_));
        connect(&session_->selection(), &Selection::range_moved, this, &ChangesPane::schedule);
        connect(&session_->selection(), &Selection::selected_changed, this, &ChangesPane::schedule);
        connect(&session_->selection(), &Selection::device_changed, this, &ChangesPane::schedule);
        connect(session_, &Session::grown, this, &ChangesPane::schedule);
        connect(&session_->graph_source(), &GraphSource::changed, this, [this] {
            by_->setCurrentIndex(first_option(*session_));
            schedule();
        });
    }
    schedule();
}

QString ChangesPane::summary() const { return summary_->text(); }

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
    const auto range = session_ ? session_->selection().state().range : std::nullopt;
    if (!range) {
        task_.abandon();
        model_->show(nullptr);
        summary_->clear();
        show_note();
        return;
    }
    const TimeView& view = session_->time_view();
    task_.start([analysis = session_->shared_analysis(), graph = session_->graph(), begin = view.point_at(range->first),
                 end = view.point_at(range->second),
                 option = group_options()[static_cast<size_t>(by_->currentIndex())]](Progress&) {
        GroupOptions options;
        options.module_depth = option.module_depth;
        if (graph && !graph->tables().empty() && &graph->index.trace() == &analysis->trace()) {
            options.categories = &graph->categories;
        }
        return std::make_shared<const Changes>(
            changes_between(analysis->trace(), analysis->device(), analysis->live(), begin, end, option.by, options));
    });
}

void ChangesPane::take(const std::shared_ptr<const Changes>& changes) {
    const ChangedGroup& total = changes->total;
    summary_->setText(tr("Active memory: %1 → %2 (%3) · new %4 · freed %5")
                          .arg(bytes_text(total.begin.bytes), bytes_text(total.end.bytes),
                               change_text(total.difference()), bytes_text(total.made.bytes),
                               bytes_text(total.freed.bytes)));
    model_->show(changes);
    show_note();
}

void ChangesPane::show_note() {
    const bool has_range = session_ && session_->selection().state().range;
    const QString note = has_range && model_->rowCount() > 0 ? QString()
                         : has_range
                             ? tr("Nothing is allocated at either end of the range.")
                             : tr("Drag over a plot to select a time range. This pane then shows what grew, what "
                                  "shrank, what is new and what was freed within it.");
    note_->setText(note);
    note_->setVisible(!note.isEmpty());
    note_->setGeometry(table_->geometry());
    note_->raise();
}

/// Highlights the group's new allocations in every pane; the range stays.
void ChangesPane::select_row(int row) {
    if (!session_ || row < 0) {
        return;
    }
    const ChangedGroup& group = model_->group_at(row);
    SelectionState next;
    next.device = session_->selection().state().device;
    next.time_point = session_->selection().state().time_point;
    next.range = session_->selection().state().range;
    if (!group.new_allocations.empty()) {
        next.memory = std::make_shared<const std::vector<AllocationIndex>>(group.new_allocations);
    }
    session_->selection().select(next);
}

void ChangesPane::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    show_note();
    if (stale_) {
        request();
    }
}

void ChangesPane::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    note_->setGeometry(table_->geometry());
}

}  // namespace tidemark::gui
