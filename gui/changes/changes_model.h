// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What changed between two points in time, by group, as a table.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <vector>

#include "storage/compare/changes.h"

namespace tidemark::gui {

class ChangesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { name, difference, begin, end, made, freed, column_count };

    explicit ChangesModel(QObject* parent = nullptr);
    /// Null: nothing. `of_one_run`: otherwise the points are of two traces, A and B.
    void show(std::shared_ptr<const Changes> changes, bool of_one_run = true);

    const ChangedGroup& group_at(int row) const;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

private:
    void sort_order();

    std::shared_ptr<const Changes> changes_;
    std::vector<size_t> order_;  ///< in Changes::groups
    bool of_one_run_ = true;
    int sort_column_ = difference;
    Qt::SortOrder sort_order_ = Qt::DescendingOrder;
};

}  // namespace tidemark::gui
