// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane with the allocation sites of active memory at the cursor, and the counters of torch.cuda.memory_stats().
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "gui/model/latest_only.h"
#include "gui/model/session.h"
#include "gui/table/summary_model.h"

class QComboBox;
class QLabel;
class QStackedWidget;
class QTabBar;
class QTableView;

namespace tidemark::gui {

class SummaryTable : public QWidget {
    Q_OBJECT
public:
    explicit SummaryTable(QWidget* parent = nullptr);

    void set_session(Session* session);
    /// Export and copy use the table in front.
    void export_csv(const QString& path);

    void show_counters(bool on);
    void set_group_by(GroupBy by);
    AttributionModel& attribution() { return *attribution_; }
    CountersModel& counters() { return *counters_; }
    bool busy() const { return attribution_task_.busy() || counters_task_.busy() || delay_.isActive(); }

signals:
    /// `error` is empty if the file is written.
    void export_finished(const QString& path, const QString& error);

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Answer {
        Attribution attribution;
        GroupBy by;
    };
    struct CountersAnswer {
        Counters counters;
        TimePoint time_point;
    };
    QTableView* make_table(QAbstractItemModel* model, const QString& name);
    void make_controls();
    void schedule();
    void request();
    void take(const std::shared_ptr<const Answer>& answer);
    void follow_growth();
    void select_row(int row);
    void show_selection();
    void show_note();
    void fit_name_column();
    void update_colors();
    QTableView* front() const;
    GroupBy group_by() const;

    QPointer<Session> session_;
    bool empty_trace_ = false;
    bool stale_ = false;
    bool following_ = false;
    AttributionModel* attribution_;
    CountersModel* counters_;
    LatestOnly<Answer> attribution_task_;
    LatestOnly<CountersAnswer> counters_task_;
    QTimer delay_;
    QTabBar* tabs_;
    QComboBox* by_;
    QLabel* note_;
    QStackedWidget* pages_;
    QTableView *attribution_table_, *counters_table_;
};

}  // namespace tidemark::gui
