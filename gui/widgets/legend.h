// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The key of the colors above the plots: the groups with their bytes at the cursor, in as many lines as they need. A
// click selects a group.
#pragma once

#include <QPointer>
#include <QWidget>

#include "gui/model/session.h"

namespace tidemark::gui {

class Legend : public QWidget {
    Q_OBJECT
public:
    explicit Legend(QWidget* parent = nullptr);
    void set_session(Session* session);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Entry {
        int group = 0;
        int64_t bytes = 0;
        QString name;  ///< elided
        int name_width = 0;
        QRect place;
    };
    void update_entries();
    void follow_cursor();
    void count_bytes();
    void place_entries();
    int place_entries_with(int longest_name);
    void paint_entry(QPainter& painter, const Entry& entry) const;
    int entry_at(QPoint point) const;  ///< -1: none
    void select(int entry);

    QPointer<Session> session_;
    std::shared_ptr<const Groups> groups_;  ///< of the entries
    std::vector<Entry> entries_;
};

}  // namespace tidemark::gui
