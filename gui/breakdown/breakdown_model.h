// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The components at one point in time as a table, from requested bytes up to nvidia-smi's figure.
#pragma once

#include <QAbstractTableModel>
#include <QBrush>
#include <functional>
#include <optional>

#include "storage/breakdown/breakdown.h"

namespace tidemark::gui {

/// The last row is the total: nvidia-smi's figure, or without one the sum of the known components.
class BreakdownModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { component, step, bytes, share, column_count };
    static constexpr int brush_role = Qt::UserRole + 10;
    /// Where a component's bar begins and ends, 0 to 1 of the total's bar.
    static constexpr int from_role = brush_role + 1, to_role = brush_role + 2;

    explicit BreakdownModel(QObject* parent = nullptr);
    void show(std::optional<BreakdownRow> row);
    void set_brush_of(std::function<QBrush(const Component&)> brush_of);
    const std::optional<BreakdownRow>& row() const { return row_; }
    int64_t total() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    const Component* component_at(int row) const;
    int64_t below(int row) const;  ///< bytes of the components before
    QString text(int row, int column) const;

    std::optional<BreakdownRow> row_;
    std::function<QBrush(const Component&)> brush_of_;
};

}  // namespace tidemark::gui
