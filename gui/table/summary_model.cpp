// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/summary_model.h"

#include <QColor>
#include <QFont>
#include <algorithm>
#include <numeric>

#include "gui/model/text.h"

namespace tidemark::gui {

// --- Attribution ----------------------------------------------------------------------------------------------------

AttributionModel::AttributionModel(QObject* parent) : QAbstractTableModel(parent) {}

void AttributionModel::show(std::shared_ptr<const Trace> trace, std::shared_ptr<const Attribution> attribution,
                            GroupBy by) {
    beginResetModel();
    trace_ = std::move(trace);
    stacks_ = trace_ ? &trace_->stacks : nullptr;
    attribution_ = std::move(attribution);
    by_ = by;
    total_ = {};
    for (const AttributionGroup& group : attribution_ ? *attribution_ : Attribution{}) {
        total_.allocations += group.allocations;
        total_.requested += group.requested;
        total_.block_bytes += group.block_bytes;
        total_.pending += group.pending;
    }
    sort_order();
    endResetModel();
}

void AttributionModel::set_color_of(std::function<QColor(const AttributionGroup&)> color_of) {
    color_of_ = std::move(color_of);
    if (rowCount() > 0) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1), {Qt::DecorationRole, color_role});
    }
}

const AttributionGroup* AttributionModel::group_at(int row) const {
    return row >= 0 && row < static_cast<int>(order_.size()) ? &(*attribution_)[order_[static_cast<size_t>(row)]]
                                                             : nullptr;
}

int AttributionModel::row_of_stack(StackId stack) const {
    const auto found =
        std::find_if(order_.begin(), order_.end(), [&](uint32_t i) { return (*attribution_)[i].stack == stack; });
    return found == order_.end() ? -1 : static_cast<int>(found - order_.begin());
}

void AttributionModel::sort_order() {
    order_.resize(attribution_ ? attribution_->size() : 0);
    std::iota(order_.begin(), order_.end(), 0u);
    std::vector<QString> names(sort_column_ == name ? order_.size() : 0);
    for (uint32_t i = 0; i < names.size(); ++i) {
        names[i] = shown((*attribution_)[i], name);
    }
    const auto key = [&](uint32_t i) {
        const AttributionGroup& group = (*attribution_)[i];
        switch (sort_column_) {
            case count: return group.allocations;
            case requested: return group.requested;
            case pending: return group.pending;
            default: return group.block_bytes;
        }
    };
    const bool descending = sort_order_ == Qt::DescendingOrder;
    std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
        if (sort_column_ == name) {
            const int order = QString::localeAwareCompare(names[a], names[b]);
            return descending ? order > 0 : order < 0;
        }
        return descending ? key(a) > key(b) : key(a) < key(b);
    });
}

void AttributionModel::sort(int column, Qt::SortOrder order) {
    if (column < 0) {
        return;
    }
    emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
    const QModelIndexList before = persistentIndexList();
    const std::vector<uint32_t> old_order = order_;
    sort_column_ = column;
    sort_order_ = order;
    sort_order();
    std::vector<int> row_of(order_.size());
    for (size_t row = 0; row < order_.size(); ++row) {
        row_of[order_[row]] = static_cast<int>(row);
    }
    QModelIndexList after;
    for (const QModelIndex& old : before) {
        const auto row = static_cast<size_t>(old.row());
        after << (row < old_order.size() ? index(row_of[old_order[row]], old.column()) : old);
    }
    changePersistentIndexList(before, after);
    emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

int AttributionModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || order_.empty() ? 0 : static_cast<int>(order_.size()) + 1;
}

int AttributionModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QString AttributionModel::shown(const AttributionGroup& group, int column) const {
    switch (column) {
        case name:
            if (&group == &total_) {
                return tr("Total active");
            }
            if (group.stack == 0 && (by_ == GroupBy::stack || by_ == GroupBy::line)) {
                return no_frames_text();
            }
            return by_ == GroupBy::stack && stacks_ ? stack_text(*stacks_, group.stack) : group_text(by_, group.name);
        case block_size: return bytes_text(static_cast<uint64_t>(group.block_bytes));
        case share:
            return percent_text(static_cast<double>(group.block_bytes), static_cast<double>(total_.block_bytes));
        case count: return count_text(group.allocations);
        case requested: return bytes_text(static_cast<uint64_t>(group.requested));
        default: return group.pending ? bytes_text(static_cast<uint64_t>(group.pending)) : QStringLiteral("0");
    }
}

QString AttributionModel::exact(const AttributionGroup& group, int column) const {
    switch (column) {
        case block_size: return QString::number(group.block_bytes);
        case count: return QString::number(group.allocations);
        case requested: return QString::number(group.requested);
        case pending: return QString::number(group.pending);
        default: return shown(group, column);
    }
}

QVariant AttributionModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) {
        return {};
    }
    const AttributionGroup* found = group_at(index.row());
    const AttributionGroup& group = found ? *found : total_;
    switch (role) {
        case Qt::DisplayRole: return shown(group, index.column());
        case Qt::ToolTipRole:
            return index.column() == name || index.column() == share || index.column() == count
                       ? tip_text(shown(group, index.column()))
                       : exact_bytes_text(exact(group, index.column()).toULongLong());
        case exact_text_role: return exact(group, index.column());
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::AlignVCenter | (index.column() == name ? Qt::AlignLeft : Qt::AlignRight));
        case Qt::FontRole: {
            QFont bold;
            bold.setBold(true);
            return found ? QVariant() : QVariant(bold);
        }
        case share_role:
            return total_.block_bytes ? static_cast<double>(group.block_bytes) / static_cast<double>(total_.block_bytes)
                                      : 0.0;
        case Qt::DecorationRole:
        case color_role: {
            if (!found || !color_of_ || (role == Qt::DecorationRole && index.column() != name)) {
                return {};
            }
            const QColor color = color_of_(group);
            return color.isValid() ? QVariant(color) : QVariant();
        }
        default: return {};
    }
}

QVariant AttributionModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Horizontal && role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::AlignVCenter | (section == name ? Qt::AlignLeft : Qt::AlignRight));
    }
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
        case name: return tr("Allocated by");
        case block_size: return tr("Block size");
        case share: return tr("Share");
        case count: return tr("Allocations");
        case requested: return tr("Requested");
        case pending: return tr("Pending free");
        default: return {};
    }
}

// --- Counters ---------------------------------------------------------------------------------------------------

CountersModel::CountersModel(QObject* parent) : QAbstractTableModel(parent) {}

void CountersModel::show(std::shared_ptr<const Counters> counters) {
    beginResetModel();
    rows_.clear();
    if (counters) {
        const auto add = [&](const QString& title, Metric metric_kind, bool bytes) {
            rows_.push_back({title, counters->at(metric_kind, PoolKind::all), bytes, true, false});
            rows_.push_back({tr("from large pool"), counters->at(metric_kind, PoolKind::large), bytes, false, false});
            rows_.push_back({tr("from small pool"), counters->at(metric_kind, PoolKind::small), bytes, false, false});
        };
        add(tr("Allocated memory"), Metric::allocated_bytes, true);
        add(tr("Active memory"), Metric::active_bytes, true);
        add(tr("Requested memory"), Metric::requested_bytes, true);
        add(tr("GPU reserved memory"), Metric::reserved_bytes, true);
        add(tr("Non-releasable memory"), Metric::inactive_split_bytes, true);
        add(tr("Allocations"), Metric::allocation, false);
        add(tr("Active allocs"), Metric::active, false);
        add(tr("GPU reserved segments"), Metric::segment, false);
        add(tr("Non-releasable allocs"), Metric::inactive_split, false);
        rows_.push_back({tr("Oversize allocations"), counters->oversize_allocations, false, true, false});
        rows_.push_back({tr("Oversize GPU segments"), counters->oversize_segments, false, true, false});
        const auto single = [&](const QString& title, int64_t value) {
            Stat stat;
            stat.current = value;
            rows_.push_back({title, stat, false, true, true});
        };
        single(tr("CUDA OOMs"), counters->num_ooms);
        if (counters->retries_known) {
            single(tr("cudaMalloc retries"), counters->num_alloc_retries);
        }
        single(tr("cudaMalloc calls"), counters->num_device_alloc);
        single(tr("cudaFree calls"), counters->num_device_free);
    }
    endResetModel();
}

int CountersModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
int CountersModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QString CountersModel::cell(const Row& row, int column, bool exact) const {
    if (column == metric) {
        return row.whole || exact ? row.name : QStringLiteral("      ") + row.name;
    }
    if (row.single && column != current) {
        return {};
    }
    const int64_t values[] = {row.stat.current, row.stat.peak, row.stat.allocated, row.stat.freed};
    const int64_t value = values[column - 1];
    if (exact) {
        return QString::number(value);
    }
    return row.bytes ? bytes_text(static_cast<uint64_t>(value)) : count_text(value);
}

QVariant CountersModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) {
        return {};
    }
    const Row& row = rows_[static_cast<size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole: return cell(row, index.column(), false);
        case exact_text_role: return cell(row, index.column(), true);
        case Qt::ToolTipRole:
            return row.bytes && index.column() != metric
                       ? exact_bytes_text(cell(row, index.column(), true).toULongLong())
                       : cell(row, index.column(), false).trimmed();
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::AlignVCenter | (index.column() == metric ? Qt::AlignLeft : Qt::AlignRight));
        case Qt::FontRole: {
            QFont bold;
            bold.setBold(true);
            return row.whole && index.column() <= current ? QVariant(bold) : QVariant();
        }
        default: return {};
    }
}

QVariant CountersModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Horizontal && role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::AlignVCenter | (section == metric ? Qt::AlignLeft : Qt::AlignRight));
    }
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
        case metric: return tr("Metric");
        case current: return tr("Current");
        case peak: return tr("Peak");
        case allocated: return tr("Total allocated");
        case freed: return tr("Total freed");
        default: return {};
    }
}

}  // namespace tidemark::gui
