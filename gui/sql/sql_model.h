// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The rows of a query as a sortable table.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <optional>
#include <vector>

#include "storage/query/query.h"

namespace tidemark::gui {

/// Thread: GUI.
class SqlModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    /// Null: nothing. The order is that of the query until sort() is called; column -1 restores it.
    void show(std::shared_ptr<const QueryRows> rows);
    /// Returns the id of an allocation in this cell, or in the first such column of its row.
    std::optional<int64_t> allocation_of(const QModelIndex& index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

private:
    QVariant tip(size_t column, const QueryValue& value) const;

    std::shared_ptr<const QueryRows> rows_;
    std::vector<size_t> order_;
};

}  // namespace tidemark::gui
