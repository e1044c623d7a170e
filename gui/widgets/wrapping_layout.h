// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A layout that places items side by side and wraps them into further rows, like words.
#pragma once

#include <QLayout>
#include <memory>
#include <vector>

namespace tidemark::gui {

/// Gives each item its size hint. An item that may expand takes the room that is left in its row; an item with
/// Qt::AlignRight moves to the right end of its row. The minimum width is that of the widest item. Owns its items.
class WrappingLayout : public QLayout {
    Q_OBJECT
public:
    explicit WrappingLayout(QWidget* parent);
    ~WrappingLayout() override;

    void addItem(QLayoutItem* item) override;
    int count() const override { return static_cast<int>(items_.size()); }
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    Qt::Orientations expandingDirections() const override { return {}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return place(QRect(0, 0, width, 0), false); }
    QSize sizeHint() const override;
    QSize minimumSize() const override;
    void setGeometry(const QRect& rect) override;

private:
    struct Row;
    std::vector<Row> rows_for(int width) const;
    /// Returns the height; moves the items if `apply`.
    int place(const QRect& rect, bool apply) const;

    std::vector<std::unique_ptr<QLayoutItem>> items_;
};

}  // namespace tidemark::gui
