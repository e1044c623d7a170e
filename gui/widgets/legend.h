// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The names of the colors: the groups with their bytes at the cursor. A click selects a group.
#pragma once

#include <QPointer>
#include <QScrollArea>

#include "gui/model/session.h"

namespace tidemark::gui {

class Legend : public QWidget {
    Q_OBJECT
public:
    explicit Legend(QWidget* parent = nullptr);
    void set_session(Session* session);
    QSize sizeHint() const override { return {240, 200}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Row {
        int group = 0;
        int64_t bytes = 0;
    };
    void update_rows();
    void paint_row(QPainter& painter, const QRect& box, const Row& row, double part) const;
    int row_height() const;
    int title_height() const;
    int row_at(QPoint point) const;
    void select(int row);

    QPointer<Session> session_;
    std::vector<Row> rows_;
};

}  // namespace tidemark::gui
