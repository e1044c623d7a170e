// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane that tells what changed within the selected time range: what grew and shrank, what is new and what was
// freed, by category, line, module, ... It also compares this trace with another one.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "gui/changes/changes_model.h"
#include "gui/model/latest_only.h"
#include "gui/model/session.h"

class QComboBox;
class QLabel;
class QPushButton;
class QTableView;

namespace tidemark::gui {

/// Follows the selected range while it is visible. Thread: GUI.
class ChangesPane : public QWidget {
    Q_OBJECT
public:
    explicit ChangesPane(QWidget* parent = nullptr);

    void set_session(Session* session);
    /// Compares the cursor of this trace with another trace, until null.
    void compare_with(std::shared_ptr<Session> other);
    bool compares_traces() const { return other_ != nullptr; }
    ChangesModel& model() { return *model_; }
    /// Returns the line above the table.
    QString summary() const;
    bool busy() const { return task_.busy() || delay_.isActive(); }

signals:
    void trace_requested();  ///< the user wants to compare with another trace

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void make_table();
    void schedule();
    void request();
    void request_changes();
    void request_comparison();
    void take(const std::shared_ptr<const Changes>& changes);
    QString summary_of(const ChangedGroup& total) const;
    void show_note();
    void select_row(int row);

    QPointer<Session> session_;
    std::shared_ptr<Session> other_;  ///< null: one run
    bool stale_ = false;
    ChangesModel* model_;
    LatestOnly<Changes> task_;
    QTimer delay_;
    QComboBox* by_;
    QPushButton* compare_;
    QComboBox* other_point_;
    QLabel* summary_;
    QLabel* note_;
    QTableView* table_;
};

}  // namespace tidemark::gui
