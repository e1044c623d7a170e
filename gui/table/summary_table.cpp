// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/summary_table.h"

#include <QAction>
#include <QComboBox>
#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QPointer>
#include <QScrollBar>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QTabBar>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/model/grouping.h"
#include "gui/model/palette.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "gui/widgets/ask_path.h"
#include "gui/widgets/delimited.h"
#include "gui/widgets/pane_note.h"
#include "gui/widgets/table_style.h"
#include "gui/widgets/toolbar.h"
#include "storage/replay/repeated_step.h"

namespace tidemark::gui {

namespace {

constexpr int scrubbing_pause = 40;  // milliseconds: several moves of the cursor cause one request
constexpr int growing_pause = 250;   // a growing run moves the cursor all the time

/// Paints a bar as long as the group's share, under its percentage.
class ShareDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        QStyleOptionViewItem plain = option;
        initStyleOption(&plain, index);
        const QString text = std::exchange(plain.text, QString());
        plain.widget->style()->drawControl(QStyle::CE_ItemViewItem, &plain, painter, plain.widget);
        const QVariant color = index.data(AttributionModel::color_role);
        const Theme theme = Theme::current();
        QRectF bar = QRectF(option.rect).adjusted(6, 4, -8, -4);
        const double text_width = plain.fontMetrics.horizontalAdvance(QStringLiteral("100 % "));
        bar.setWidth(std::max(0.0, bar.width() - text_width) * index.data(AttributionModel::share_role).toDouble());
        painter->fillRect(bar, color.isValid() ? color.value<QColor>() : theme.faint_text);
        painter->setFont(plain.font);
        const bool selected = (option.state & QStyle::State_Selected) != 0;
        painter->setPen(plain.palette.color(selected ? QPalette::HighlightedText : QPalette::Text));
        painter->drawText(option.rect.adjusted(0, 0, -7, 0), Qt::AlignRight | Qt::AlignVCenter, text);
    }
};

}  // namespace

SummaryTable::SummaryTable(QWidget* parent)
    : QWidget(parent),
      attribution_(new AttributionModel(this)),
      counters_(new CountersModel(this)),
      attribution_task_(this, OnNewerRequest::cancel_running,
                        [this](const std::shared_ptr<const Answer>& answer) { take(answer); }),
      counters_task_(this, OnNewerRequest::cancel_running, [this](const std::shared_ptr<const CountersAnswer>& answer) {
          counters_->show(std::shared_ptr<const Counters>(answer, &answer->counters));
          show_note();
      }) {
    setAccessibleName(tr("Active memory at the cursor, and counters"));
    attribution_table_ = make_table(attribution_, tr("Active memory"));
    attribution_table_->setItemDelegateForColumn(AttributionModel::share, new ShareDelegate(attribution_table_));
    attribution_table_->setColumnWidth(AttributionModel::share, fontMetrics().horizontalAdvance(u'0') * 18);
    attribution_table_->setSortingEnabled(true);
    attribution_table_->sortByColumn(AttributionModel::block_size, Qt::DescendingOrder);
    attribution_table_->viewport()->installEventFilter(this);
    counters_table_ = make_table(counters_, tr("Counters"));
    counters_table_->horizontalHeader()->setSectionResizeMode(CountersModel::metric, QHeaderView::Stretch);
    pages_ = new QStackedWidget(this);
    pages_->addWidget(attribution_table_);
    pages_->addWidget(counters_table_);
    note_ = make_pane_note(this);
    make_controls();

    delay_.setSingleShot(true);
    connect(&delay_, &QTimer::timeout, this, &SummaryTable::request);
    connect(attribution_table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) { select_row(current.row()); });
    connect(attribution_table_, &QTableView::clicked, this,
            [this](const QModelIndex& index) { select_row(index.row()); });
    set_session(nullptr);
}

QTableView* SummaryTable::make_table(QAbstractItemModel* model, const QString& name) {
    auto* table = new QTableView(this);
    table->setModel(model);
    table->setAccessibleName(name);
    set_table_style(table);
    for (int column = 1; column < model->columnCount(); ++column) {
        const QString title = model->headerData(column, Qt::Horizontal).toString();
        const int width = fontMetrics().horizontalAdvance(title.size() > 11 ? title : QStringLiteral("Allocations"));
        table->setColumnWidth(column, width + 34);
    }
    add_copy_actions(table);
    auto* save = new QAction(tr("Export as CSV…"), table);
    connect(save, &QAction::triggered, this, [this] {
        ask_path_to_write(this, tr("Export the table"), QStringLiteral("summary.csv"), {tr("CSV files (*.csv)")},
                          [this](const QString& path) { export_csv(path); });
    });
    table->addAction(save);
    return table;
}

void SummaryTable::make_controls() {
    tabs_ = new QTabBar(this);
    tabs_->addTab(tr("Active memory"));
    tabs_->addTab(tr("Counters"));
    tabs_->setDrawBase(false);
    tabs_->setAccessibleName(tr("Active memory or counters"));
    by_ = new QComboBox(this);
    by_->setAccessibleName(tr("Group by"));
    const std::pair<QString, GroupBy> kinds[] = {{tr("by stack"), GroupBy::stack},
                                                 {tr("by line"), GroupBy::line},
                                                 {tr("by file"), GroupBy::file},
                                                 {tr("by size"), GroupBy::size},
                                                 {tr("by stream"), GroupBy::stream},
                                                 {tr("by pool"), GroupBy::pool},
                                                 {tr("by annotation"), GroupBy::annotation},
                                                 {tr("by module"), GroupBy::module},
                                                 {tr("by operator"), GroupBy::op},
                                                 {tr("by phase"), GroupBy::phase},
                                                 {tr("by step"), GroupBy::step},
                                                 {tr("by category"), GroupBy::category},
                                                 {tr("by node of the graph"), GroupBy::node},
                                                 {tr("by step that created the graph"), GroupBy::graph_step}};
    for (const auto& [name, by] : kinds) {
        by_->addItem(name, static_cast<int>(by));
    }
    auto* bar = new Toolbar(this);
    bar->add(tabs_);
    bar->add(by_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(bar);
    layout->addWidget(pages_, 1);
    connect(by_, &QComboBox::currentIndexChanged, this, [this] { request(); });
    connect(tabs_, &QTabBar::currentChanged, this, [this](int page) {
        pages_->setCurrentIndex(page);
        by_->setVisible(page == 0);
        request();
        show_note();
    });
}

void SummaryTable::set_session(Session* session) {
    if (session_) {
        session_->disconnect(this);
        session_->selection().disconnect(this);
        session_->graph_source().disconnect(this);
    }
    attribution_task_.abandon();
    counters_task_.abandon();
    empty_trace_ = session && !session->has_device();
    session_ = session && session->has_device() ? session : nullptr;
    attribution_->show(nullptr, nullptr, group_by());
    counters_->show(nullptr);
    if (session_) {
        const Selection& selection = session_->selection();
        connect(&selection, &Selection::time_point_changed, this, &SummaryTable::schedule);
        connect(&session_->graph_source(), &GraphSource::changed, this, &SummaryTable::schedule);
        connect(&selection, &Selection::device_changed, this, [this] {
            attribution_task_.abandon();
            counters_task_.abandon();
            schedule();
        });
        connect(&selection, &Selection::selected_changed, this, &SummaryTable::show_selection);
        connect(session_, &Session::grown, this, &SummaryTable::follow_growth);
        connect(session_, &Session::grouping_changed, this, [this] {
            set_group_by(session_->group_by());
            update_colors();
        });
        update_colors();
        request();
    }
    show_note();
}

void SummaryTable::set_group_by(GroupBy by) { by_->setCurrentIndex(by_->findData(static_cast<int>(by))); }
void SummaryTable::show_counters(bool on) { tabs_->setCurrentIndex(on ? 1 : 0); }
GroupBy SummaryTable::group_by() const { return static_cast<GroupBy>(by_->currentData().toInt()); }
QTableView* SummaryTable::front() const { return tabs_->currentIndex() == 0 ? attribution_table_ : counters_table_; }

void SummaryTable::update_colors() {
    if (!session_) {
        return;
    }
    const bool same_groups = session_->group_by() == group_by();
    attribution_->set_color_of([groups = session_->shared_groups(), theme = Theme::current(), same_groups,
                                session = QPointer<Session>(session_)](const AttributionGroup& g) {
        const Grouping& grouping = groups->grouping;
        // A group has the color of its largest allocation in the plots, if the plots show the same grouping.
        return same_groups && session && g.largest < grouping.group_of.size()
                   ? color_of_group(theme, *groups,
                                    grouping.group_at(g.largest, state_at(session->device().allocations, g.largest,
                                                                          session->selection().state().time_point)))
                   : QColor();
    });
}

// --- Results -----------------------------------------------------------------------------------------------------

void SummaryTable::schedule() {
    if (!delay_.isActive()) {
        delay_.start(session_->is_live() ? growing_pause : scrubbing_pause);
    }
}

/// Growth changes only the colors of past times. A cursor at the end moves, which sends a new request.
void SummaryTable::follow_growth() {
    update_colors();
    stale_ = stale_ || !isVisible();
}

void SummaryTable::request() {
    stale_ = !isVisible();
    if (!session_ || stale_) {
        return;
    }
    const auto analysis = session_->shared_analysis();
    const TimePoint time_point = session_->selection().state().time_point;
    if (front() == counters_table_) {
        // The first answer walks the whole history; later ones are quick.
        counters_task_.start([analysis, time_point](Progress&) {
            return std::make_shared<const CountersAnswer>(
                CountersAnswer{analysis->statistics().at(time_point), time_point});
        });
        return;
    }
    attribution_task_.start([analysis, time_point, by = group_by(), graph = session_->graph()](Progress&) {
        GroupOptions options;
        options.categories = categories_of(graph, analysis->trace());
        return std::make_shared<const Answer>(Answer{
            attribution_at(analysis->trace(), analysis->device(), analysis->live(), time_point, by, options), by});
    });
}

void SummaryTable::take(const std::shared_ptr<const Answer>& answer) {
    const GroupBy by = answer->by;
    following_ = true;
    const int scroll = attribution_table_->verticalScrollBar()->value();
    update_colors();
    attribution_->show(session_ ? session_->shared_trace() : nullptr,
                       std::shared_ptr<const Attribution>(answer, &answer->attribution), by);
    attribution_table_->verticalScrollBar()->setValue(scroll);
    following_ = false;
    show_note();
    show_selection();
}

void SummaryTable::show_note() {
    QString note;
    const bool counters = front() == counters_table_;
    if (!session_) {
        note = empty_trace_ ? tr("This trace has no memory events of any device.")
                            : tr("No trace is open. Open one to see its active memory by allocation site.");
    } else if (counters ? counters_->rowCount() == 0 : !attribution_->is_known()) {
        note = counters ? tr("Computing the counters…") : tr("Computing the groups…");
    } else if (!counters && attribution_->rowCount() == 0) {
        note = tr("Nothing is allocated at the cursor.");
    }
    note_->setText(note);
    note_->setVisible(!note.isEmpty());
    note_->setGeometry(pages_->geometry());
    note_->raise();
}

// --- Selection --------------------------------------------------------------------------------------------------

void SummaryTable::select_row(int row) {
    const AttributionGroup* group = attribution_->group_at(row);
    if (following_ || !session_ || !group) {
        return;
    }
    following_ = true;
    const GroupBy by = group_by();
    if ((by == GroupBy::stack || by == GroupBy::line) && group->stack != 0) {
        session_->selection().select_stack(group->stack);
    } else if (group->largest != no_allocation) {
        session_->selection().select_allocation(group->largest);
    }
    following_ = false;
}

void SummaryTable::show_selection() {
    if (following_ || !session_) {
        return;
    }
    following_ = true;
    const std::optional<StackId> stack = session_->selection().state().stack;
    const int row = group_by() == GroupBy::stack && stack ? attribution_->row_of_stack(*stack) : -1;
    if (row >= 0) {
        attribution_table_->selectionModel()->setCurrentIndex(
            attribution_->index(row, 0), QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
    } else {
        attribution_table_->clearSelection();
        attribution_table_->setCurrentIndex({});
    }
    following_ = false;
}

void SummaryTable::export_csv(const QString& path) {
    QString error;
    write_model_csv(*front()->model(), path, &error);
    emit export_finished(path, error);
}

void SummaryTable::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (stale_) {
        request();
    }
}

/// Gives the name column the width that the numbers leave, and at least a readable one.
void SummaryTable::fit_name_column() {
    int width = attribution_table_->viewport()->width();
    for (int column = AttributionModel::name + 1; column < AttributionModel::column_count; ++column) {
        width -= attribution_table_->columnWidth(column);
    }
    attribution_table_->setColumnWidth(AttributionModel::name,
                                       std::max(width, fontMetrics().horizontalAdvance(u'0') * 32));
}

void SummaryTable::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    note_->setGeometry(pages_->geometry());
}

/// The room for columns also changes with the scroll bar, and when a hidden table is shown.
bool SummaryTable::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize && watched == attribution_table_->viewport()) {
        fit_name_column();
    }
    return QWidget::eventFilter(watched, event);
}

void SummaryTable::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        update_colors();
    }
}

}  // namespace tidemark::gui
