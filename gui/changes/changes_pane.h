// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane that tells what changed within the selected time range: what grew and shrank, what is new and what was
// freed, by category, line, module, ... It also compares this trace with another one, and two steps of this trace.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "gui/changes/changes_model.h"
#include "gui/changes/comparison.h"
#include "gui/model/latest_only.h"
#include "gui/model/session.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;
class QSplitter;
class QTableView;

namespace tidemark::gui {

class ComparisonPlot;
class TextBlock;

/// Follows the selected range, or the cursor while it compares, while it is visible. Thread: GUI.
class ChangesPane : public QWidget {
    Q_OBJECT
public:
    explicit ChangesPane(QWidget* parent = nullptr);

    void set_session(Session* session);
    /// Compares this trace with another one, which has a device.
    void compare_with(std::shared_ptr<Session> other);
    /// Compares the step at a point in time with another one.
    void compare_step(const TimePoint& point, OtherStep other);
    void compare_steps(const StepNumbers& steps);
    /// Compares the step at the cursor with one whose number the user enters.
    void ask_step();
    void stop_comparing();
    struct AskedStep {
        TimePoint point;
        OtherStep other = OtherStep::previous;
    };
    /// What is compared, for another window.
    struct Compared {
        std::shared_ptr<Session> other;  ///< null: no other trace
        int device = -1;                 ///< position in its devices; -1: none is selected
        std::optional<AskedStep> asked_step;
        std::optional<StepNumbers> steps;
        PointsToCompare points = PointsToCompare::peaks;
        std::optional<GroupOption> chosen_by = {};  ///< nothing: that of the plots
    };
    Compared compared() const;
    void compare(const Compared& compared);
    ComparedPoints mode() const;
    bool compares_traces() const { return other_ != nullptr; }
    /// Whether A and B can change places. A growing trace stays the one that is shown.
    bool can_swap() const;
    /// Returns whether a comparison has too little room.
    bool is_low() const;
    ChangesModel& model() { return *model_; }
    ComparisonPlot& plot() { return *plot_; }
    /// Returns the line above the table.
    QString summary() const;
    /// Returns the source and the callers of the selected row as text; empty if none are shown.
    QString row_source() const;
    void select_table_row(int row);
    /// Returns why the table is empty; empty if it is not.
    QString note() const;
    bool busy() const { return task_.busy() || delay_.isActive(); }

signals:
    void trace_requested();  ///< the user wants to compare with another trace
    void swap_requested();
    void stop_requested();
    void mode_changed();

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    void make_bar_controls();
    void make_table();
    QWidget* make_rows();
    QSpinBox* make_step_box();
    void follow_session();
    void show_mode();
    void show_columns();
    int wide_table() const;
    void fill_devices();
    void select_other_device(int position);
    void select_same_device();
    void enter_steps();
    void discard_runs();
    void schedule();
    void request();
    void request_range(const GroupOption& by);
    void request_traces(const GroupOption& by);
    void request_steps(const GroupOption& by);
    void show_nothing();
    void take(std::shared_ptr<const ShownChanges> shown);
    void take_steps();
    QString summary_of(const ShownChanges& shown) const;
    QString note_of_reason() const;
    void show_note();
    void place_note();
    void select_row(int row);
    void select_row_of_traces(const ChangedGroup& group);
    void show_row_source(const std::optional<RowSide>& a, const std::optional<RowSide>& b);
    void choose_grouping();
    void follow_grouping();
    PointsToCompare points() const;
    void select_points(PointsToCompare points);
    void follow_cursor();

    QPointer<Session> session_;
    std::shared_ptr<Session> other_;       ///< null: no other trace
    bool needs_device_ = false;            ///< the user must select the device of the other trace
    std::optional<AskedStep> asked_step_;  ///< its number is not known yet
    std::optional<StepNumbers> steps_;
    std::optional<GroupOption> chosen_by_;  ///< selected here; a comparison of traces keeps it
    bool stale_ = false;
    std::shared_ptr<const ShownChanges> shown_;
    std::shared_ptr<const ComparedRuns> runs_;  ///< null: to be made
    ChangesModel* model_;
    LatestOnly<ShownChanges> task_;
    QTimer delay_;
    QComboBox* by_;
    QPushButton* compare_;
    QPushButton* swap_;
    QPushButton* stop_;
    QSpinBox* step_a_;
    QSpinBox* step_b_;
    QComboBox* other_device_;
    QComboBox* points_;
    QLabel* summary_;
    QLabel* note_;
    QSplitter* split_;
    ComparisonPlot* plot_;
    QTableView* table_;
    TextBlock* row_source_;  ///< of the selected row, of two traces
};

}  // namespace tidemark::gui
