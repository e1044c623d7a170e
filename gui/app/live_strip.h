// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The line above the plots while a run is recorded: its figures, and the buttons Follow and Freeze.
#pragma once

#include <QPointer>
#include <QWidget>

#include "gui/app/streaming_feed.h"

class QComboBox;
class QLabel;
class QToolButton;

namespace tidemark::gui {

class LiveStrip : public QWidget {
    Q_OBJECT
public:
    explicit LiveStrip(QWidget* parent = nullptr);

    /// Connects the buttons with the session's time view; with nullptr they do nothing.
    void set_session(Session* session);
    void show_figures(const LiveFigures& figures);
    void show_on_screen(std::optional<int64_t> nanoseconds);  ///< from the newest event to its picture
    void set_frozen(bool frozen);

signals:
    void freeze_requested(bool frozen);

protected:
    void changeEvent(QEvent* event) override;

private:
    void show_tail();
    void show_state();
    void select_length(int index);

    QPointer<Session> session_;
    bool frozen_ = false;
    QLabel* dot_;
    QLabel* state_;
    QLabel* events_;
    QLabel* rate_;
    QLabel* behind_;
    QLabel* on_screen_;
    QToolButton* tail_;
    QComboBox* length_;
    QToolButton* freeze_;
};

}  // namespace tidemark::gui
