// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The rows of a source as a table, and how they are painted.
#pragma once

#include <QAbstractTableModel>
#include <QStyledItemDelegate>
#include <vector>

#include "gui/source/source_rows.h"

namespace tidemark::gui {

class SourceModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { active, self, allocated, peak, leaked, line, code, column_count };

    explicit SourceModel(QObject* parent = nullptr);
    void show(std::vector<SourceRow> rows);

    const SourceRow& row_at(int row) const { return rows_[static_cast<size_t>(row)]; }
    /// Returns the row of a line; -1 if it has none.
    int row_of(int32_t line) const;
    /// Returns the next line with memory of its own after a row, or before it; goes on at the other end. -1: none.
    int next_hot_row(int row, int direction) const;
    /// Returns the hot row that leaks most, or has most memory of its own if none leaks. -1: none.
    int hottest_row() const;
    /// Returns the next row whose text contains a text, in any case; goes on at the begin. -1: none.
    int next_found_row(int row, const QString& text) const;
    /// Returns the bytes of a row in a column, and the most that any row has in it.
    uint64_t bytes(int row, int column) const;
    uint64_t most_bytes(int column) const { return most_[static_cast<size_t>(column)]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    bool is_hot(int row) const;

    std::vector<SourceRow> rows_;
    std::array<uint64_t, column_count> most_{};
};

/// Paints bars behind bytes, and the parts of code in colors.
class SourceDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    explicit SourceDelegate(const SourceModel& model, QObject* parent);
    /// Marks where the code contains the text; empty: nothing.
    void set_search(const QString& text) { search_ = text; }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    /// Returns the height that a note's text needs in a cell of this width.
    int note_height(int row, int width, const QFont& font) const;

private:
    void paint_bar(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index) const;
    void paint_code(QPainter& painter, const QStyleOptionViewItem& option, const SourceRow& row) const;

    const SourceModel& model_;
    QString search_;
};

}  // namespace tidemark::gui
