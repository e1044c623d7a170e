// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Selecting, expanding, copying and exporting rows of the allocation table.
#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QScrollBar>
#include <QTableView>
#include <algorithm>

#include "gui/model/file_name.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "gui/table/allocation_filters.h"
#include "gui/table/allocation_table.h"
#include "gui/widgets/ask_path.h"

namespace tidemark::gui {

void AllocationTable::make_menus() {
    const auto add = [this](const QString& text, auto run) {
        auto* action = new QAction(text, this);
        connect(action, &QAction::triggered, this, run);
        table_->addAction(action);
        return action;
    };
    QAction* copy = add(tr("Copy rows"), [this] { copy_selection(); });
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    add(tr("Copy rows as CSV"), [this] { copy_selection_as_csv(); });
    add(tr("Copy rows as Markdown"), [this] { copy_selection_as_markdown(); });
    add(tr("Copy all as CSV"), [this] { copy_all(TableFormat::csv); });
    add(tr("Copy all as Markdown"), [this] { copy_all(TableFormat::markdown); });
    add(tr("Export…"), [this] { ask_export(); });
    add(tr("Expand all groups"), [this] { expand_all(true); });
    add(tr("Collapse all groups"), [this] { expand_all(false); });
    make_column_menu();
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
}

// --- Selection --------------------------------------------------------------------------------------------------

void AllocationTable::select_row(int row) {
    if (following_ || !session_) {
        return;
    }
    following_ = true;
    const AllocationIndex a = model_->allocation_at(row);
    if (const AllocationGroup* group = model_->group_at(row)) {
        select_group(*group);
    } else if (a != no_allocation && session_->selection().state().allocation != a) {
        session_->selection().select_allocation(a);
    }
    following_ = false;
}

/// Selects the group's memory in every pane; not if the table lists the selected memory only, of which it is a part.
void AllocationTable::select_group(const AllocationGroup& group) {
    if (filters_->follows_memory()) {
        return;
    }
    const std::vector<AllocationIndex>& rows = model_->rows()->rows;
    std::vector<AllocationIndex> memory(rows.begin() + group.first, rows.begin() + group.last);
    std::sort(memory.begin(), memory.end());
    Selection& selection = session_->selection();
    if (!selection.state().memory || *selection.state().memory != memory) {
        selection.select_memory(std::make_shared<const std::vector<AllocationIndex>>(std::move(memory)), group.name);
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

// --- Groups -----------------------------------------------------------------------------------------------------

void AllocationTable::set_grouping(TableGrouping grouping) { filters_->set_grouping(grouping); }

void AllocationTable::toggle_group(int row) {
    following_ = true;
    model_->set_expanded(row, !model_->is_expanded(row));
    following_ = false;
}

void AllocationTable::expand_all(bool expanded) {
    following_ = true;
    model_->set_all_expanded(expanded);
    following_ = false;
    show_selection(false);
}

/// The keys of trees: Right expands a group, Left collapses it, also from its rows, and Enter does either.
bool AllocationTable::eventFilter(QObject* object, QEvent* event) {
    if (object != table_ || event->type() != QEvent::KeyPress || !model_->is_grouped()) {
        return QWidget::eventFilter(object, event);
    }
    const int key = static_cast<QKeyEvent*>(event)->key();
    int row = table_->currentIndex().row();
    if (key == Qt::Key_Left) {
        while (row > 0 && model_->group_at(row) == nullptr) {
            --row;
        }
    }
    if (model_->group_at(row) == nullptr) {
        return QWidget::eventFilter(object, event);
    }
    const bool is_expanded = model_->is_expanded(row);
    if (key == Qt::Key_Return || key == Qt::Key_Enter || (key == Qt::Key_Right && !is_expanded) ||
        (key == Qt::Key_Left && is_expanded)) {
        table_->setCurrentIndex(model_->index(row, std::max(0, table_->currentIndex().column())));
        toggle_group(row);
        return true;
    }
    return QWidget::eventFilter(object, event);
}

// --- Copy and export --------------------------------------------------------------------------------------------

void AllocationTable::copy_selection() { copy_rows(*table_); }
void AllocationTable::copy_selection_as_csv() { copy_rows_as_csv(*table_); }
void AllocationTable::copy_selection_as_markdown() { copy_rows_as_markdown(*table_); }

void AllocationTable::ask_export() {
    ask_path_to_write(this, tr("Export allocations"), QStringLiteral("allocations.csv"),
                      {tr("CSV files (*.csv)"), tr("Markdown (*.md)")},
                      [this](const QString& path) { export_rows(path); });
}

void AllocationTable::export_rows(const QString& path) {
    start_export(path,
                 path.endsWith(QLatin1String(".md"), Qt::CaseInsensitive) ? TableFormat::markdown : TableFormat::csv);
}

void AllocationTable::copy_all(TableFormat format) {
    const bool is_large = model_->rows() && !model_->is_grouped() && model_->rows()->rows.size() > most_copied_rows;
    if (is_large) {
        show_result(tr("The clipboard takes at most %1 rows. Filter or group the table, or export it to a file.")
                        .arg(count_text(static_cast<int64_t>(most_copied_rows))));
    } else {
        start_export({}, format);
    }
}

void AllocationTable::start_export(const QString& path, TableFormat format) {
    if (!model_->rows() || !requested_analysis_) {
        ExportOutcome nothing;
        nothing.path = path;
        nothing.error = tr("There is nothing to export.");
        finish_export(nothing);
        return;
    }
    show_result({});
    const AllocationExport wanted{requested_analysis_, model_->shared_rows(), model_->categories(), format, path};
    export_task_.start([wanted](Progress& progress) { return write_allocations(wanted, progress); });
    progress_timer_.start();
    show_progress();
}

void AllocationTable::finish_export(const ExportOutcome& outcome) {
    show_progress();
    if (!outcome.error.isEmpty()) {
        show_result(outcome.error);
    } else if (outcome.path.isEmpty()) {
        QGuiApplication::clipboard()->setText(outcome.text);
        show_result(
            tr("%1 row(s) copied", nullptr, plural(outcome.rows)).arg(count_text(static_cast<int64_t>(outcome.rows))));
    } else {
        show_result(tr("Exported to %1").arg(shown_file_name(outcome.path)));
    }
    emit export_finished(outcome.path, outcome.error);
}

void AllocationTable::cancel_export() {
    export_task_.abandon();
    show_progress();
    show_result(tr("The export was canceled."));
}

void AllocationTable::show_result(const QString& text) {
    result_->setText(text);
    result_->setVisible(!text.isEmpty());
}

QString AllocationTable::result() const { return result_->text(); }

}  // namespace tidemark::gui
