// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/allocation_model.h"

#include <QColor>
#include <QFont>
#include <QSet>
#include <algorithm>

#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

bool is_number(AllocationColumn column) {
    return column != AllocationColumn::stream && column != AllocationColumn::pool &&
           (column < AllocationColumn::line || column >= AllocationColumn::count);
}

QString seconds_text(int64_t nanoseconds) { return QString::number(static_cast<double>(nanoseconds) / 1e9, 'f', 9); }

std::optional<int64_t> lifetime(const DeviceHistory& device, AllocationIndex a) {
    const int64_t found = lifetime_of(device, a);
    return found == INT64_MAX ? std::nullopt : std::optional(found);
}

}  // namespace

AllocationModel::AllocationModel(QObject* parent) : QAbstractTableModel(parent) {}

void AllocationModel::show(std::shared_ptr<const Analysis> analysis, std::shared_ptr<const AllocationRows> rows) {
    QSet<QString> open;
    for (size_t group = 0; group < expanded_.size(); ++group) {
        if (expanded_[group]) {
            open.insert(rows_->groups[group].name);
        }
    }
    beginResetModel();
    analysis_ = std::move(analysis);
    rows_ = std::move(rows);
    expanded_.clear();
    if (rows_) {
        for (const AllocationGroup& group : rows_->groups) {
            expanded_.push_back(open.contains(group.name));
        }
    }
    count_rows();
    endResetModel();
}

// --- Groups -----------------------------------------------------------------------------------------------------

void AllocationModel::count_rows() {
    group_row_.assign(expanded_.size() + 1, 0);
    for (size_t group = 0; group < expanded_.size(); ++group) {
        group_row_[group + 1] =
            group_row_[group] + 1 + (expanded_[group] ? static_cast<int>(rows_->groups[group].count()) : 0);
    }
}

AllocationModel::Place AllocationModel::place_of(int row) const {
    const auto after = std::upper_bound(group_row_.begin(), group_row_.end() - 1, row);
    const auto group = static_cast<size_t>(after - group_row_.begin() - 1);
    return {group, group_row_[group]};
}

const AllocationGroup* AllocationModel::group_at(int row) const {
    if (!is_grouped() || row < 0 || row >= rowCount()) {
        return nullptr;
    }
    const Place place = place_of(row);
    return place.row_of_group == row ? &rows_->groups[place.group] : nullptr;
}

bool AllocationModel::is_expanded(int row) const { return group_at(row) != nullptr && expanded_[place_of(row).group]; }

void AllocationModel::set_expanded(int row, bool expanded) {
    const AllocationGroup* group = group_at(row);
    if (group == nullptr || is_expanded(row) == expanded) {
        return;
    }
    const int first = row + 1, last = row + static_cast<int>(group->count());
    expanded ? beginInsertRows({}, first, last) : beginRemoveRows({}, first, last);
    expanded_[place_of(row).group] = expanded;
    count_rows();
    expanded ? endInsertRows() : endRemoveRows();
    emit dataChanged(index(row, 0), index(row, columnCount() - 1));
}

void AllocationModel::set_all_expanded(bool expanded) {
    beginResetModel();
    expanded_.assign(expanded_.size(), expanded);
    count_rows();
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
    if (!rows_ || row < 0 || row >= rowCount()) {
        return no_allocation;
    }
    if (!is_grouped()) {
        return rows_->rows[static_cast<size_t>(row)];
    }
    const Place place = place_of(row);
    return place.row_of_group == row
               ? no_allocation
               : rows_->rows[rows_->groups[place.group].first + static_cast<size_t>(row - place.row_of_group - 1)];
}

int AllocationModel::row_of(AllocationIndex a) const {
    if (!rows_ || a == no_allocation) {
        return -1;
    }
    const auto found = std::find(rows_->rows.begin(), rows_->rows.end(), a);
    if (found == rows_->rows.end()) {
        return -1;
    }
    const auto place = static_cast<uint32_t>(found - rows_->rows.begin());
    if (!is_grouped()) {
        return static_cast<int>(place);
    }
    const auto group = std::upper_bound(rows_->groups.begin(), rows_->groups.end(), place,
                                        [](uint32_t p, const AllocationGroup& g) { return p < g.last; });
    const auto number = static_cast<size_t>(group - rows_->groups.begin());
    return expanded_[number] ? group_row_[number] + 1 + static_cast<int>(place - group->first) : -1;
}

int AllocationModel::rowCount(const QModelIndex& parent) const {
    if (parent.isValid() || !rows_) {
        return 0;
    }
    return is_grouped() ? group_row_.back() : static_cast<int>(rows_->rows.size());
}

int AllocationModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : table_column_count; }

QVariant AllocationModel::group_data(const QModelIndex& index, int role) const {
    const AllocationGroup& group = *group_at(index.row());
    const auto column = static_cast<AllocationColumn>(index.column());
    const bool is_open = is_expanded(index.row());
    switch (role) {
        case Qt::DisplayRole:
            return column == AllocationColumn::line
                       ? (is_open ? QStringLiteral("\u25be ") : QStringLiteral("\u25b8 ")) + group.name
                       : group_text(group, column);
        case Qt::AccessibleTextRole:
            return column == AllocationColumn::line
                       ? (is_open ? tr("%1, group, expanded") : tr("%1, group, collapsed")).arg(group.name)
                       : group_text(group, column);
        case Qt::ToolTipRole:
        case exact_text_role: {
            const QString text = exact_group_cell(group, column);
            return role == exact_text_role ? text : tip_text(text);
        }
        case Qt::FontRole: {
            QFont bold;
            bold.setBold(true);
            return column == AllocationColumn::line ? QVariant(bold) : QVariant();
        }
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::AlignVCenter | (is_number(column) ? Qt::AlignRight : Qt::AlignLeft));
        default: return {};
    }
}

QVariant AllocationModel::data(const QModelIndex& index, int role) const {
    if (index.isValid() && group_at(index.row()) != nullptr) {
        return group_data(index, role);
    }
    const AllocationIndex a = allocation_at(index.row());
    if (!index.isValid() || a == no_allocation) {
        return {};
    }
    const auto column = static_cast<AllocationColumn>(index.column());
    switch (role) {
        case Qt::DisplayRole:
            // Below its group, the allocation's line is indented.
            return (is_grouped() && column == AllocationColumn::line ? QStringLiteral("    ") : QString()) +
                   shown_text(*analysis_, a, column, categories());
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
        case AllocationColumn::count: return tr("Count");
        case AllocationColumn::largest: return tr("Largest");
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
        case AllocationColumn::count:
        case AllocationColumn::largest: return {};
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

QString AllocationModel::group_text(const AllocationGroup& group, AllocationColumn column) {
    switch (column) {
        case AllocationColumn::line: return group.name;
        case AllocationColumn::count: return count_text(group.count());
        case AllocationColumn::requested: return bytes_text(group.requested);
        case AllocationColumn::block_size: return bytes_text(group.block_bytes);
        case AllocationColumn::rounding:
            return bytes_text(group.block_bytes - std::min(group.block_bytes, group.requested));
        case AllocationColumn::largest: return bytes_text(group.largest);
        case AllocationColumn::lifetime:
            return group.longest == INT64_MAX ? tr("to the end") : QStringLiteral("≤ ") + duration_text(group.longest);
        default: return {};
    }
}

QString AllocationModel::exact_group_cell(const AllocationGroup& group, AllocationColumn column) {
    switch (column) {
        case AllocationColumn::count: return QString::number(group.count());
        case AllocationColumn::requested: return QString::number(group.requested);
        case AllocationColumn::block_size: return QString::number(group.block_bytes);
        case AllocationColumn::rounding:
            return QString::number(group.block_bytes - std::min(group.block_bytes, group.requested));
        case AllocationColumn::largest: return QString::number(group.largest);
        case AllocationColumn::lifetime: return group.longest == INT64_MAX ? QString() : seconds_text(group.longest);
        default: return group_text(group, column);
    }
}

}  // namespace tidemark::gui
