// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The pane that replays the run with other settings of PyTorch's allocator.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "gui/model/latest_only.h"
#include "gui/model/session.h"
#include "gui/whatif/shown_replay.h"

class QLabel;
class QStandardItemModel;
class QTableView;
class QToolButton;

namespace tidemark::gui {

class ReservedPlot;
class SettingsBar;

/// Thread: GUI. A worker replays. While the pane is hidden nothing is computed.
class WhatIfPane : public QWidget {
    Q_OBJECT
public:
    explicit WhatIfPane(QWidget* parent = nullptr);

    void set_session(Session* session);
    /// Returns the result as text.
    QString result() const;
    /// Returns the line that sets the environment variable.
    QString variable() const;
    const std::shared_ptr<const ShownReplay>& shown() const { return shown_; }
    bool busy() const { return task_.busy() || delay_.isActive(); }

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* make_table();
    QWidget* make_foot();
    void schedule();
    void request();
    void take(std::shared_ptr<const ShownReplay> shown);
    void show_result();
    void show_figures();
    void follow_link();

    QPointer<Session> session_;
    bool stale_ = false;
    std::shared_ptr<const ShownReplay> shown_;
    LatestOnly<ShownReplay> task_;
    QTimer delay_;
    SettingsBar* settings_;
    QLabel* result_;
    ReservedPlot* plot_;
    QStandardItemModel* figures_;
    QTableView* table_;
    QLabel* variable_;
    QToolButton* copy_;
    QLabel* trust_;
};

}  // namespace tidemark::gui
