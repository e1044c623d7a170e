// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/allocation_model.h"

#include <QColor>
#include <algorithm>

#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

bool is_number(AllocationColumn column) {
    return column != AllocationColumn::stream && column != AllocationColumn::pool && column < AllocationColumn::line;
}

QString seconds_text(int64_t nanoseconds) { return QString::number(static_cast<double>(nanoseconds) / 1e9, 'f', 9); }

std::optional<int64_t> lifetime(const DeviceHistory& device, AllocationIndex a) {
    const auto freed = device.free_time(a);
    return freed ? std::optional(std::max<int64_t>(0, *freed - device.alloc_time(a))) : std::nullopt;
}

}  // namespace

AllocationModel::AllocationModel(QObject* parent) : QAbstractTableModel(parent) {}

void AllocationModel::show(std::shared_ptr<const Analysis> analysis, std::shared_ptr<const AllocationRows> rows) {
    beginResetModel();
    analysis_ = std::move(analysis);
    rows_ = std::move(rows);
    endResetModel();
}

void AllocationModel::set_color_of(std::function<QColor(AllocationIndex)> color_of) {
    color_of_ = std::move(color_of);
    if (rowCount() > 0) {
        const int column = static_cast<int>(AllocationColumn::line);
        emit dataChanged(index(0, column), index(rowCount() - 1, column), {Qt::DecorationRole});
    }
}

void AllocationModel::set_categories(std::function<CategoryLookup()> categories) {
    categories_ = std::move(categories);
    const int column = static_cast<int>(AllocationColumn::category);
    if (rowCount() > 0) {
        emit dataChanged(index(0, column), index(rowCount() - 1, column));
    }
}

AllocationIndex AllocationModel::allocation_at(int row) const {
    return rows_ && row >= 0 && row < rowCount() ? rows_->rows[static_cast<size_t>(row)] : no_allocation;
}

int AllocationModel::row_of(AllocationIndex a) const {
    if (!rows_ || a == no_allocation) {
        return -1;
    }
    const auto found = std::find(rows_->rows.begin(), rows_->rows.end(), a);
    return found == rows_->rows.end() ? -1 : static_cast<int>(found - rows_->rows.begin());
}

int AllocationModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !rows_ ? 0 : static_cast<int>(rows_->rows.size());
}

int AllocationModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : allocation_column_count;
}

QVariant AllocationModel::data(const QModelIndex& index, int role) const {
    const AllocationIndex a = allocation_at(index.row());
    if (!index.isValid() || a == no_allocation) {
        return {};
    }
    const auto column = static_cast<AllocationColumn>(index.column());
    switch (role) {
        case Qt::DisplayRole: return shown_text(*analysis_, a, column, categories());
        case Qt::ToolTipRole: return tip_text(exact_cell(*analysis_, a, column, categories()));
        case exact_text_role: return exact_cell(*analysis_, a, column, categories());
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::AlignVCenter | (is_number(column) ? Qt::AlignRight : Qt::AlignLeft));
        case Qt::DecorationRole:
            return column == AllocationColumn::line && color_of_ ? QVariant(color_of_(a)) : QVariant();
        default: return {};
    }
}

QVariant AllocationModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Horizontal && role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(
            Qt::AlignVCenter | (is_number(static_cast<AllocationColumn>(section)) ? Qt::AlignRight : Qt::AlignLeft));
    }
    return orientation == Qt::Horizontal && role == Qt::DisplayRole
               ? QVariant(title(static_cast<AllocationColumn>(section)))
               : QVariant();
}

QString AllocationModel::title(AllocationColumn column) {
    switch (column) {
        case AllocationColumn::id: return tr("Allocation");
        case AllocationColumn::address: return tr("Address");
        case AllocationColumn::requested: return tr("Requested");
        case AllocationColumn::block_size: return tr("Block size");
        case AllocationColumn::rounding: return tr("Allocator rounding");
        case AllocationColumn::allocated_at: return tr("Allocated at");
        case AllocationColumn::freed_at: return tr("Freed at");
        case AllocationColumn::lifetime: return tr("Lifetime");
        case AllocationColumn::stream: return tr("Stream");
        case AllocationColumn::pool: return tr("Pool");
        case AllocationColumn::line: return tr("Line");
        case AllocationColumn::file: return tr("File");
        case AllocationColumn::op: return tr("Operator");
        case AllocationColumn::module: return tr("Module");
        case AllocationColumn::phase: return tr("Phase");
        case AllocationColumn::category: return tr("Category");
    }
    return {};
}

QString AllocationModel::shown_text(const Analysis& analysis, AllocationIndex a, AllocationColumn column,
                                    const CategoryLookup& category_of) {
    const DeviceHistory& device = analysis.device();
    const Allocations& all = device.allocations;
    const Trace& trace = analysis.trace();
    switch (column) {
        case AllocationColumn::id: return allocation_text(device, a);
        case AllocationColumn::address: return address_text(all.address[a]);
        case AllocationColumn::requested: return bytes_text(all.requested[a]);
        case AllocationColumn::block_size: return bytes_text(all.block_size[a]);
        case AllocationColumn::rounding:
            return rounding_of(all, a) ? bytes_text(rounding_of(all, a)) : QStringLiteral("0");
        case AllocationColumn::allocated_at:
            return all.alloc_event[a] == before_history ? tr("before") : time_point_text(device.alloc_time(a));
        case AllocationColumn::freed_at: {
            const auto freed = device.free_time(a);
            return freed ? time_point_text(*freed) : tr("never");
        }
        case AllocationColumn::lifetime: {
            const auto lived = lifetime(device, a);
            if (!lived) {
                return tr("to the end");
            }
            // It was allocated before the history begins, so the lifetime is a lower bound.
            return all.alloc_event[a] == before_history ? QStringLiteral("≥ ") + duration_text(*lived)
                                                        : duration_text(*lived);
        }
        case AllocationColumn::stream: return stream_of_text(trace, device, a);
        case AllocationColumn::pool: return pool_of_text(trace, device, a);
        case AllocationColumn::line: return stack_text(trace.stacks, all.stack[a]);
        case AllocationColumn::file: return site_file(trace.stacks, all.stack[a]);
        case AllocationColumn::op:
        case AllocationColumn::module:
        case AllocationColumn::phase:
            return all.origin[a] < trace.origins.size() ? to_qstring(origin_text(trace.origins[all.origin[a]], column))
                                                        : QString();
        case AllocationColumn::category: return category_of.known() ? category_text(category_of(a)) : QString();
    }
    return {};
}

QString AllocationModel::exact_cell(const Analysis& analysis, AllocationIndex a, AllocationColumn column,
                                    const CategoryLookup& category_of) {
    const DeviceHistory& device = analysis.device();
    const Allocations& all = device.allocations;
    switch (column) {
        case AllocationColumn::id: return QString::number(device.allocation_id(a));
        case AllocationColumn::requested: return QString::number(all.requested[a]);
        case AllocationColumn::block_size: return QString::number(all.block_size[a]);
        case AllocationColumn::rounding: return QString::number(rounding_of(all, a));
        case AllocationColumn::allocated_at:
            return all.alloc_event[a] == before_history ? QString() : seconds_text(device.alloc_time(a));
        case AllocationColumn::freed_at: {
            const auto freed = device.free_time(a);
            return freed ? seconds_text(*freed) : QString();
        }
        case AllocationColumn::lifetime: {
            const auto lived = lifetime(device, a);
            return lived ? seconds_text(*lived) : QString();
        }
        default: return shown_text(analysis, a, column, category_of);
    }
}

}  // namespace tidemark::gui
