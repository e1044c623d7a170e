// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What changed between two points in time, by group, as a table.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <vector>

#include "storage/compare/changes.h"

namespace tidemark::gui {

/// What the columns compare.
enum class ComparedPoints : uint8_t {
    range,   ///< the start and the end of a range
    traces,  ///< A and B: two traces, which share no allocations
    steps,   ///< A and B: points in two steps of one run
};

class ChangesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { name, kind, difference, begin, end, made, freed, column_count };

    explicit ChangesModel(QObject* parent = nullptr);
    /// Null: nothing. `stacks`: those of the groups, if they have one; must outlive what is shown.
    void show(std::shared_ptr<const Changes> changes, ComparedPoints points = ComparedPoints::range,
              const StackTable* stacks = nullptr);

    const ChangedGroup& group_at(int row) const;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

private:
    void sort_order();
    QString group_name(const ChangedGroup& group) const;
    QString heading(int column) const;
    QString heading_tip(int column) const;

    std::shared_ptr<const Changes> changes_;
    std::vector<size_t> order_;  ///< in Changes::groups
    ComparedPoints points_ = ComparedPoints::range;
    const StackTable* stacks_ = nullptr;
    int sort_column_ = difference;
    Qt::SortOrder sort_order_ = Qt::DescendingOrder;
};

}  // namespace tidemark::gui
