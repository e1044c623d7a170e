// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane that tells what changed within the selected time range: what grew and shrank, what is new and what was
// freed, by category, line, module, ...
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "gui/changes/changes_model.h"
#include "gui/model/latest_only.h"
#include "gui/model/session.h"

class QComboBox;
class QLabel;
class QTableView;

namespace tidemark::gui {

/// Follows the selected range while it is visible. Thread: GUI.
class ChangesPane : public QWidget {
    Q_OBJECT
public:
    explicit ChangesPane(QWidget* parent = nullptr);

    void set_session(Session* session);
    ChangesModel& model() { return *model_; }
    /// Returns the line above the table.
    QString summary() const;
    bool busy() const { return task_.busy() || delay_.isActive(); }

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void make_table();
    void schedule();
    void request();
    void take(const std::shared_ptr<const Changes>& changes);
    void show_note();
    void select_row(int row);

    QPointer<Session> session_;
    bool stale_ = false;
    ChangesModel* model_;
    LatestOnly<Changes> task_;
    QTimer delay_;
    QComboBox* by_;
    QLabel* summary_;
    QLabel* note_;
    QTableView* table_;
};

}  // namespace tidemark::gui
