// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Every allocation of a device as rows of a table, below the rows of their groups: no object per row, texts are made on
// demand.
#pragma once

#include <QAbstractTableModel>
#include <functional>

#include "gui/table/allocation_query.h"

namespace tidemark::gui {

class AllocationModel : public QAbstractTableModel {
    Q_OBJECT
public:
    explicit AllocationModel(QObject* parent = nullptr);

    /// Shows these rows of this device; nulls show nothing. Groups stay expanded if they have the same names.
    void show(std::shared_ptr<const Analysis> analysis, std::shared_ptr<const AllocationRows> rows);
    /// Sets the color of an allocation in the other panes, which the column Line shows.
    void set_color_of(std::function<QColor(AllocationIndex)> color_of);

    /// Sets the source of the column Category, which is called for each cell.
    void set_categories(std::function<CategoryLookup()> categories);
    CategoryLookup categories() const { return categories_ ? categories_() : CategoryLookup(); }

    /// Returns no_allocation for the row of a group.
    AllocationIndex allocation_at(int row) const;
    /// Returns -1 if the allocation is not among the rows, or in a group that is not expanded.
    int row_of(AllocationIndex a) const;
    const AllocationRows* rows() const { return rows_.get(); }
    const std::shared_ptr<const AllocationRows>& shared_rows() const { return rows_; }
    bool is_grouped() const { return rows_ && !rows_->groups.empty(); }
    /// Returns the group of a group's row; null for the row of an allocation.
    const AllocationGroup* group_at(int row) const;
    bool is_expanded(int row) const;
    void set_expanded(int row, bool expanded);
    void set_all_expanded(bool expanded);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    static QString title(AllocationColumn column);
    static QString shown_text(const Analysis& analysis, AllocationIndex a, AllocationColumn column,
                              const CategoryLookup& category_of);
    /// Returns bytes as digits and times in seconds: for copies, CSV and hovering.
    static QString exact_cell(const Analysis& analysis, AllocationIndex a, AllocationColumn column,
                              const CategoryLookup& category_of);
    /// The columns of a group, as shown text and exactly; empty in the columns that say nothing about groups.
    static QString group_text(const AllocationGroup& group, AllocationColumn column);
    static QString exact_group_cell(const AllocationGroup& group, AllocationColumn column);

private:
    struct Place {
        size_t group = 0;      ///< of a grouped table
        int row_of_group = 0;  ///< row of the model
    };
    Place place_of(int row) const;
    void count_rows();
    QVariant group_data(const QModelIndex& index, int role) const;
    std::shared_ptr<const Analysis> analysis_;
    std::shared_ptr<const AllocationRows> rows_;
    std::vector<bool> expanded_;  ///< of each group
    std::vector<int> group_row_;  ///< of each group its row in the model, then the number of rows
    std::function<QColor(AllocationIndex)> color_of_;
    std::function<CategoryLookup()> categories_;
};

}  // namespace tidemark::gui
