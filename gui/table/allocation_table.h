// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane with every allocation of the device: filter, group, sort, copy, export.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>
#include <bitset>
#include <vector>

#include "gui/model/latest_only.h"
#include "gui/model/session.h"
#include "gui/table/allocation_export.h"
#include "gui/table/allocation_model.h"
#include "gui/table/filter_chips.h"

class QAction;
class QLabel;
class QMenu;
class QProgressBar;
class QTableView;
class QToolButton;

namespace tidemark::gui {

class AllocationFilters;

class AllocationTable : public QWidget {
    Q_OBJECT
public:
    explicit AllocationTable(QWidget* parent = nullptr);

    void set_session(Session* session);
    /// Writes all rows, or the groups of a grouped table, in the background: Markdown if the file's name ends in .md,
    /// else CSV. The line below the table shows the progress with a Cancel button, then the result. Emits
    /// export_finished() unless canceled.
    void export_rows(const QString& path);
    /// The same to the clipboard, for at most `most_copied_rows` rows.
    void copy_all(TableFormat format);
    /// Asks for the file to write.
    void ask_export();
    void cancel_export();
    bool is_exporting() const { return export_task_.busy(); }
    void copy_selection();
    void copy_selection_as_csv();
    void copy_selection_as_markdown();
    void set_grouping(TableGrouping grouping);
    void expand_all(bool expanded);
    FilterChips& chips() { return *chips_; }
    /// Returns how the last export ended, as shown below the table; empty: none has ended.
    QString result() const;
    /// Shows or hides a column. Columns without data stay hidden.
    void set_column_wanted(AllocationColumn column, bool wanted);
    bool shows_column(AllocationColumn column) const;
    /// The order, widths and choice of columns.
    QByteArray save_state() const;
    void restore_state(const QByteArray& state);
    /// Lists only the selected memory, or that of the selected stack.
    void show_selection_only();
    void focus_filter();

    AllocationModel& model() { return *model_; }
    bool busy() const { return task_.busy() || delay_.isActive(); }

signals:
    /// `error` is empty if the file is written.
    void export_finished(const QString& path, const QString& error);

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    void make_filters();
    void make_table();
    void make_header();
    void make_status();
    void make_menus();
    void make_column_menu();
    void show_chips();
    void toggle_group(int row);
    void select_group(const AllocationGroup& group);
    void start_export(const QString& path, TableFormat format);
    void finish_export(const ExportOutcome& outcome);
    void show_result(const QString& text);
    AllocationQuery query() const;
    void schedule(int milliseconds);
    void request();
    void show_rows(std::shared_ptr<const AllocationRows> rows);
    void show_progress();
    void show_counts();
    void show_note();
    void show_selection(bool scroll_there = true);
    void select_row(int row);
    void update_colors();
    void follow_growth();
    void find_known_columns();
    void show_columns();

    QPointer<Session> session_;
    bool empty_trace_ = false;
    bool stale_ = false;
    bool following_ = false;    ///< the row is set from the selection
    bool keep_scroll_ = false;  ///< the next rows answer the same query on a longer run
    AllocationQuery requested_;
    AllocationColumn sort_by_ = AllocationColumn::block_size;
    bool descending_ = true;
    std::shared_ptr<const Analysis> requested_analysis_;
    AllocationModel* model_;
    LatestOnly<AllocationRows> task_;
    LatestOnly<ExportOutcome> export_task_;
    QTimer delay_, progress_timer_;
    std::bitset<table_column_count> known_, wanted_;  ///< columns: have data; the user wants them
    std::vector<QAction*> column_actions_;
    AllocationFilters* filters_;
    FilterChips* chips_;
    QTableView* table_;
    QLabel* note_;
    QWidget* status_;  ///< the line below the table
    QLabel* counts_;
    QLabel* result_;
    QProgressBar* progress_;
    QToolButton* cancel_export_;
};

}  // namespace tidemark::gui
