// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Every allocation of a device as rows of a table: no object per row, texts are made on demand.
#pragma once

#include <QAbstractTableModel>
#include <functional>

#include "gui/table/allocation_query.h"

namespace tidemark::gui {

class AllocationModel : public QAbstractTableModel {
    Q_OBJECT
public:
    explicit AllocationModel(QObject* parent = nullptr);

    /// Shows these rows of this device; nulls show nothing.
    void show(std::shared_ptr<const Analysis> analysis, std::shared_ptr<const AllocationRows> rows);
    /// Sets the color of an allocation in the other panes, which the column Line shows.
    void set_color_of(std::function<QColor(AllocationIndex)> color_of);

    /// Sets the source of the column Category, which is called for each cell.
    void set_categories(std::function<CategoryLookup()> categories);
    CategoryLookup categories() const { return categories_ ? categories_() : CategoryLookup(); }

    AllocationIndex allocation_at(int row) const;
    /// Returns -1 if the allocation is not among the rows.
    int row_of(AllocationIndex a) const;
    const AllocationRows* rows() const { return rows_.get(); }

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

private:
    std::shared_ptr<const Analysis> analysis_;
    std::shared_ptr<const AllocationRows> rows_;
    std::function<QColor(AllocationIndex)> color_of_;
    std::function<CategoryLookup()> categories_;
};

}  // namespace tidemark::gui
