// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The page of one open trace: its plots, its panes, and the commands on them.
#pragma once

#include <QLabel>
#include <QTabWidget>
#include <QTimer>
#include <QWidget>
#include <memory>

#include "gui/app/live_strip.h"
#include "gui/app/live_view.h"
#include "gui/app/loader.h"
#include "gui/app/page_layout.h"
#include "gui/app/pane_commands.h"
#include "gui/app/panes.h"
#include "gui/app/settings.h"
#include "gui/timeline/allocations_plot.h"
#include "gui/timeline/finding_plot.h"
#include "gui/timeline/overview_plot.h"
#include "gui/timeline/plot_column.h"
#include "gui/timeline/timeline_plot.h"
#include "gui/widgets/legend.h"

class QComboBox;
class QMenu;

namespace tidemark::gui {

class TracePage : public QWidget {
    Q_OBJECT
public:
    explicit TracePage(QWidget* parent = nullptr);
    ~TracePage() override;

    void set_session(std::shared_ptr<Session> session);
    Session* session() const { return session_.get(); }
    std::shared_ptr<Session> shared_session() const { return session_; }

    /// Follows the session's growing trace until it ends or another session is shown.
    void follow(std::unique_ptr<StreamingFeed> feed);
    LiveView* live() const { return live_.get(); }
    /// Stops following and returns the feed for another page; null if nothing is followed.
    std::unique_ptr<StreamingFeed> release_feed();

    void zoom(double factor);  ///< around the pointer, else around the cursor
    void pan(double fraction) { session_->time_view().pan(fraction); }
    void focus();  ///< on the selected allocation or range; else everything
    void show_all();
    void go_to_peak();
    void go_to_oom(int direction);
    void go_to_iteration(int direction);  ///< puts the cursor where the next iteration begins, or the previous one
    void go_to_finding(int direction);    ///< opens the next finding's card, or the previous one
    /// Closes one thing that lies over the page: the walk, pinned tooltips, or the story over the stage. Returns
    /// false if there was none.
    bool close_transient();
    void set_wheel_mode(WheelMode mode);
    void compare_trace();  ///< asks for the other trace
    void compare_with(const QString& path);
    void reveal_comparison();            ///< gives the comparison with another trace enough room
    void compare_step(OtherStep other);  ///< the step at the cursor
    void compare_step_by_number();       ///< the user enters the number of the other step
    void find_in_table();                ///< focuses the allocation table's filter
    void show_data_gaps();
    void show_trace_information();
    void set_color_by(ColorBy by);
    void set_group_by(const GroupOption& choice);
    void set_axis(TimeAxis axis);
    void refresh_now();  ///< paints everything completely before it returns
    void save_layout(Settings& settings) const;
    void restore_layout(const Settings& settings);

    QWidget* plots() const { return plots_; }
    OverviewPlot& overview() const { return *overview_; }
    TimelinePlot& timeline() const { return *timeline_; }
    AllocationsPlot& allocations() const { return *allocations_; }
    FindingPlot& finding_plot() const { return *finding_plot_; }
    SegmentMap& segments() const { return *segments_; }
    AllocationTable& table() const { return *table_; }
    SummaryTable& summary() const { return *summary_; }
    ChangesPane& changes() const { return *changes_; }
    TreePane& call_tree() const { return *call_tree_; }
    WhatIfPane& what_if() const { return *what_if_; }
    SqlPane& sql() const { return *sql_; }
    SourcePane& source() const { return *source_; }
    HistogramsPane& histograms() const { return *histograms_; }
    BreakdownPane& breakdown() const { return *breakdown_; }
    NotesPane& notes_pane() const { return *notes_pane_; }
    NotesSource& notes() { return notes_; }
    GraphPane& graph() const { return *graph_; }
    void show_pane(QWidget& pane) { tabs_->setCurrentWidget(&pane); }
    /// Returns the panes below the plots with their names, in the order of their tabs.
    std::vector<std::pair<QWidget*, QString>> panes() const;
    /// Returns the commands of the panes that are visible.
    std::vector<PaneCommand> pane_commands() const;
    InspectorPane& details() const { return *details_; }
    StoryPane& why() const { return *why_; }
    SummaryBar& summary_bar() const { return *summary_bar_; }
    /// The arrangement of the plots and panes.
    PageLayout& arrangement() const { return *arrangement_; }

signals:
    void live_changed();  ///< following began or ended
    void live_ended();    ///< the writer has ended
    void live_failed(const QString& sentence);
    void notes_failed(const QString& sentence);  ///< a change of the notes was not written
    void session_replaced();                     ///< while following
    void comparison_changed();                   ///< begins or ends
    void swap_requested();                       ///< of A and B of the comparison
    void colors_changed();                       ///< grouping, coloring or axis

protected:
    void changeEvent(QEvent* event) override;

private:
    void arrange(QWidget* plots);
    void connect_comparison();
    void follow_comparison();
    std::shared_ptr<Session> compared_trace() const;
    QString compared_facts(const Trace& b) const;
    void show_step_menu(const TimePoint& point, QPoint at);
    bool is_in_range(const TimePoint& point) const;
    void add_range_actions(QMenu& menu);
    void report_no_comparison(const QString& sentence);
    void connect_notes();
    void show_evidence(ShownBy by, const Evidence& evidence);
    QWidget* make_header();
    QWidget* make_plots();
    void make_tabs();
    void fill_header();
    void fill_facts();
    void fill_devices();
    void stop_following();
    void follow_selection();
    void reveal_time_point();
    void reread_graph();
    void show_group_option();

    std::shared_ptr<Session> session_;
    NotesSource notes_;
    std::unique_ptr<LiveView> live_;
    QTimer reread_;  ///< reads the graph of a growing run again
    LiveStrip* strip_;
    QLabel* about_;
    QLabel* data_gaps_;
    QComboBox* device_;
    QComboBox* group_by_;
    QComboBox* color_by_;
    QComboBox* axis_;
    OverviewPlot* overview_;
    TimelinePlot* timeline_;
    FindingPlot* finding_plot_;
    AllocationsPlot* allocations_;
    Legend* legend_;
    QWidget* plots_;
    QTabWidget* tabs_;
    SegmentMap* segments_;
    GraphPane* graph_;
    AllocationTable* table_;
    SummaryTable* summary_;
    ChangesPane* changes_;
    Loader other_trace_;                   ///< to compare with
    bool comparison_fills_stage_ = false;  ///< as long as it lasts
    TreePane* call_tree_;
    WhatIfPane* what_if_;
    SourcePane* source_;
    HistogramsPane* histograms_;
    BreakdownPane* breakdown_;
    SqlPane* sql_;
    NotesPane* notes_pane_;
    InspectorPane* details_;
    StoryPane* why_;
    SummaryBar* summary_bar_;
    PageLayout* arrangement_;
    PlotColumn* plot_column_;
};

}  // namespace tidemark::gui
