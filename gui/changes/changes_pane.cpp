// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/changes/changes_pane.h"

#include <QComboBox>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/model/grouping.h"
#include "gui/model/text.h"
#include "gui/widgets/pane_note.h"
#include "gui/widgets/table_style.h"
#include "gui/widgets/toolbar.h"
#include "storage/compare/compare.h"

namespace tidemark::gui {

namespace {

constexpr int dragging_pause = 60;  // milliseconds: a range that is dragged changes all the time

/// What a worker needs of one point in time.
class PointOf {
public:
    PointOf(const Session& session, TimePoint point)
        : analysis_(session.shared_analysis()), graph_(session.graph()), point_(point) {}

    StateOf state() const {
        return {analysis_->trace(), analysis_->device(), analysis_->live(), point_,
                categories_of(graph_, analysis_->trace())};
    }

private:
    std::shared_ptr<const Analysis> analysis_;
    std::shared_ptr<const Graph> graph_;
    TimePoint point_;
};

GroupOptions options_of(const GroupOption& option, const Categories* categories) {
    GroupOptions options;
    options.module_depth = option.module_depth;
    options.categories = categories;
    return options;
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
    compare_ = new QPushButton(this);
    connect(compare_, &QPushButton::clicked, this, [this] {
        if (other_) {
            compare_with(nullptr);
        } else {
            emit trace_requested();
        }
    });
    other_point_ = new QComboBox(this);
    other_point_->setAccessibleName(tr("Point in time of the other trace"));
    other_point_->addItems({tr("B at its peak"), tr("B at its end")});
    connect(other_point_, &QComboBox::activated, this, &ChangesPane::request);
    summary_ = new QLabel(this);
    summary_->setAccessibleName(tr("Change of the whole memory"));
    summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* bar = new Toolbar(this);
    bar->add(by_);
    bar->add(compare_);
    bar->add(other_point_);
    bar->add(summary_);
    make_table();
    note_ = make_pane_note(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(bar);
    column->addWidget(table_, 1);
    delay_.setSingleShot(true);
    delay_.setInterval(dragging_pause);
    connect(&delay_, &QTimer::timeout, this, &ChangesPane::request);
    connect(by_, &QComboBox::activated, this, &ChangesPane::request);
    compare_with(nullptr);
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
    add_copy_actions(table_);
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
        by_->setCurrentIndex(place_of(session_->group_option()));
        connect(&session_->selection(), &Selection::time_point_changed, this, [this] {
            if (other_) {
                schedule();
            }
        });
        connect(&session_->selection(), &Selection::range_moved, this, &ChangesPane::schedule);
        connect(&session_->selection(), &Selection::selected_changed, this, &ChangesPane::schedule);
        connect(&session_->selection(), &Selection::device_changed, this, &ChangesPane::schedule);
        connect(session_, &Session::grown, this, &ChangesPane::schedule);
        connect(&session_->graph_source(), &GraphSource::changed, this, &ChangesPane::schedule);
        connect(session_, &Session::grouping_changed, this, [this] {
            by_->setCurrentIndex(place_of(session_->group_option()));
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

void ChangesPane::compare_with(std::shared_ptr<Session> other) {
    other_ = other && other->has_device() ? std::move(other) : nullptr;
    compare_->setText(other_ ? tr("Stop comparing") : tr("Compare with another trace…"));
    other_point_->setVisible(other_ != nullptr);
    table_->setColumnHidden(ChangesModel::made, other_ != nullptr);
    table_->setColumnHidden(ChangesModel::freed, other_ != nullptr);
    if (other_) {
        connect(&other_->graph_source(), &GraphSource::changed, this, &ChangesPane::schedule);
        other_->load_graph();
    }
    schedule();
}

void ChangesPane::request() {
    stale_ = !isVisible();
    if (stale_) {
        return;
    }
    if (session_ && other_) {
        request_comparison();
    } else if (session_ && session_->selection().state().range) {
        request_changes();
    } else {
        task_.abandon();
        model_->show(nullptr);
        summary_->clear();
        show_note();
    }
}

void ChangesPane::request_changes() {
    const auto range = session_->selection().state().range;
    const TimeView& view = session_->time_view();
    task_.start([point = PointOf(*session_, view.point_at(range->first)), end = view.point_at(range->second),
                 option = group_options()[static_cast<size_t>(by_->currentIndex())]](Progress&) {
        const StateOf begin = point.state();
        return std::make_shared<const Changes>(changes_between(begin.trace, begin.device, begin.live, begin.point, end,
                                                               option.by, options_of(option, begin.categories)));
    });
}

void ChangesPane::request_comparison() {
    // A session begins at its peak.
    const TimePoint at =
        other_point_->currentIndex() == 0 ? other_->selection().state().time_point : other_->device().event_count();
    task_.start([a = PointOf(*session_, session_->selection().state().time_point), b = PointOf(*other_, at),
                 option = group_options()[static_cast<size_t>(by_->currentIndex())]](Progress&) {
        const Comparison comparison =
            compare(a.state(), b.state(), option.by, options_of(option, a.state().categories));
        Changes changes;
        changes.by = option.by;
        for (const CompareRow& row : comparison.rows) {
            changes.groups.push_back({row.name, row.a, row.b, {}, {}, {}});
        }
        changes.total = {{}, comparison.a, comparison.b, {}, {}, {}};
        return std::make_shared<const Changes>(std::move(changes));
    });
}

QString ChangesPane::summary_of(const ChangedGroup& total) const {
    if (other_) {
        const QString name = QFileInfo(to_qstring(other_->trace().path)).fileName();
        return tr("A, this trace at the cursor: %1 · B, %2: %3 (%4)")
            .arg(bytes_text(total.begin.bytes), name, bytes_text(total.end.bytes), change_text(total.difference()));
    }
    return tr("Active memory: %1 → %2 (%3) · new %4 · freed %5")
        .arg(bytes_text(total.begin.bytes), bytes_text(total.end.bytes), change_text(total.difference()),
             bytes_text(total.made.bytes), bytes_text(total.freed.bytes));
}

void ChangesPane::take(const std::shared_ptr<const Changes>& changes) {
    summary_->setText(summary_of(changes->total));
    model_->show(changes, other_ == nullptr);
    show_note();
}

void ChangesPane::show_note() {
    const bool has_points = session_ && (other_ || session_->selection().state().range);
    const QString note = has_points && model_->rowCount() > 0 ? QString()
                         : has_points
                             ? tr("Nothing is allocated at either point in time.")
                             : tr("Drag over a plot to select a time range. This pane then shows what grew, what "
                                  "shrank, what is new and what was freed within it.");
    note_->setText(note);
    note_->setVisible(!note.isEmpty());
    note_->setGeometry(table_->geometry());
    note_->raise();
}

/// Highlights the group's new allocations in every pane; the range stays.
void ChangesPane::select_row(int row) {
    if (!session_ || other_ || row < 0) {
        return;
    }
    const ChangedGroup& group = model_->group_at(row);
    AllocationSet memory;
    if (!group.new_allocations.empty()) {
        memory = std::make_shared<const std::vector<AllocationIndex>>(group.new_allocations);
    }
    session_->selection().select_memory(memory, memory ? tr("New: %1").arg(to_qstring(group.name)) : QString());
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
