// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The allocation sites of memory active at the cursor, and the allocator's counters, as tables.
#pragma once

#include <QAbstractTableModel>
#include <functional>
#include <memory>
#include <vector>

#include "storage/allocator/counters.h"
#include "storage/attribution/attribution.h"

namespace tidemark::gui {

using Attribution = std::vector<AttributionGroup>;

/// Groups of active allocations; the last row is the total in every sort order.
class AttributionModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { name, block_size, share, count, requested, pending, column_count };
    static constexpr int share_role = Qt::UserRole + 2;  ///< 0 to 1
    static constexpr int color_role = Qt::UserRole + 3;

    explicit AttributionModel(QObject* parent = nullptr);
    void show(std::shared_ptr<const Trace> trace, std::shared_ptr<const Attribution> attribution, GroupBy by);
    /// Sets the color of a group in the other panes; invalid for groups without one.
    void set_color_of(std::function<QColor(const AttributionGroup&)> color_of);

    /// Returns null for the total.
    const AttributionGroup* group_at(int row) const;
    int row_of_stack(StackId stack) const;
    const AttributionGroup& total() const { return total_; }
    bool is_known() const { return attribution_ != nullptr; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

private:
    void sort_order();
    QString shown(const AttributionGroup& group, int column) const;
    QString exact(const AttributionGroup& group, int column) const;

    std::shared_ptr<const Trace> trace_;
    const StackTable* stacks_ = nullptr;
    std::shared_ptr<const Attribution> attribution_;
    std::vector<uint32_t> order_;
    AttributionGroup total_;
    GroupBy by_ = GroupBy::stack;
    int sort_column_ = block_size;
    Qt::SortOrder sort_order_ = Qt::DescendingOrder;
    std::function<QColor(const AttributionGroup&)> color_of_;
};

/// The table of torch.cuda.memory_summary().
class CountersModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { metric, current, peak, allocated, freed, column_count };

    explicit CountersModel(QObject* parent = nullptr);
    void show(std::shared_ptr<const Counters> counters);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        QString name;
        Stat stat;
        bool bytes = false, whole = true;  ///< whole: not one of the pools
        bool single = false;               ///< only a current value
    };
    QString cell(const Row& row, int column, bool exact) const;
    std::vector<Row> rows_;
};

}  // namespace tidemark::gui
