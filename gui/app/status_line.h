// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The status bar of the main window: the cursor, the memory there, and the data gaps.
#pragma once

#include <QLabel>
#include <QStringList>

class QStatusBar;

namespace tidemark::gui {

class Session;

class StatusLine : public QObject {
    Q_OBJECT
public:
    /// Adds its labels to the bar, which must outlive it.
    explicit StatusLine(QStatusBar& bar);

    /// Shows the state at the session's cursor; hides the bar if there is no session.
    void show(const Session* session);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// The cursor, the cursor without what its event did, the memory at the cursor.
    struct Text {
        QString time, short_time;
        QStringList memory;
    };
    void show_what_fits();

    QStatusBar& bar_;
    QLabel *time_, *memory_, *data_gaps_;
    Text text_;
};

}  // namespace tidemark::gui
