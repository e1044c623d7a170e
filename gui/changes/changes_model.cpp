// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/changes/changes_model.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "gui/model/palette.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

/// Returns what a column sorts by; the largest change first, whether it grew or shrank.
int64_t key_of(const ChangedGroup& group, int column) {
    switch (column) {
        case ChangesModel::begin: return group.begin.bytes;
        case ChangesModel::end: return group.end.bytes;
        case ChangesModel::made: return group.made.bytes;
        case ChangesModel::freed: return group.freed.bytes;
        default: return std::llabs(group.difference());
    }
}

QString amounts_text(const Amounts& amounts) {
    return amounts.count == 0 ? QString()
                              : QStringLiteral("%1 (%2)").arg(bytes_text(amounts.bytes), count_text(amounts.count));
}

QString cell(const ChangedGroup& group, GroupBy by, int column) {
    switch (column) {
        case ChangesModel::name: return group_text(by, group.name);
        case ChangesModel::difference: return change_text(group.difference());
        case ChangesModel::begin: return amounts_text(group.begin);
        case ChangesModel::end: return amounts_text(group.end);
        case ChangesModel::made: return amounts_text(group.made);
        case ChangesModel::freed: return amounts_text(group.freed);
        default: return {};
    }
}

QString exact_cell(const ChangedGroup& group, int column) {
    switch (column) {
        case ChangesModel::name: return to_qstring(group.name);
        case ChangesModel::difference: return QString::number(group.difference());
        default: return QString::number(key_of(group, column));
    }
}

}  // namespace

ChangesModel::ChangesModel(QObject* parent) : QAbstractTableModel(parent) {}

void ChangesModel::show(std::shared_ptr<const Changes> changes, bool of_one_run) {
    beginResetModel();
    of_one_run_ = of_one_run;
    changes_ = std::move(changes);
    order_.resize(changes_ ? changes_->groups.size() : 0);
    sort_order();
    endResetModel();
}

const ChangedGroup& ChangesModel::group_at(int row) const { return changes_->groups[order_[static_cast<size_t>(row)]]; }

int ChangesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int ChangesModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QVariant ChangesModel::data(const QModelIndex& index, int role) const {
    const ChangedGroup& group = group_at(index.row());
    switch (role) {
        case Qt::DisplayRole: return cell(group, changes_->by, index.column());
        case exact_text_role: return exact_cell(group, index.column());
        case Qt::ToolTipRole:
            return index.column() == name ? tip_text(group_text(changes_->by, group.name)) : QString();
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::Alignment(index.column() == name ? Qt::AlignLeft : Qt::AlignRight) |
                                       Qt::AlignVCenter);
        default: return {};
    }
}

QVariant ChangesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::Alignment(section == name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    if (role == Qt::DisplayRole) {
        switch (section) {
            case name: return tr("Group");
            case difference: return tr("Change");
            case begin: return of_one_run_ ? tr("At the start") : QStringLiteral("A");
            case end: return of_one_run_ ? tr("At the end") : QStringLiteral("B");
            case made: return tr("New");
            case freed: return tr("Freed");
            default: return {};
        }
    }
    if (role == Qt::ToolTipRole && of_one_run_) {
        switch (section) {
            case begin: return tr("Active at the start of the range: bytes of blocks, and the number of allocations");
            case end: return tr("Active at the end of the range: bytes of blocks, and the number of allocations");
            case made: return tr("Allocated within the range, and active at its end");
            case freed: return tr("Active at the start of the range, and freed within it");
            default: return {};
        }
    }
    return {};
}

void ChangesModel::sort(int column, Qt::SortOrder order) {
    sort_column_ = column;
    sort_order_ = order;
    emit layoutAboutToBeChanged();
    sort_order();
    emit layoutChanged();
}

void ChangesModel::sort_order() {
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [this](size_t a, size_t b) {
        if (sort_order_ == Qt::DescendingOrder) {
            std::swap(a, b);
        }
        const ChangedGroup &first = changes_->groups[a], &second = changes_->groups[b];
        return sort_column_ == name ? first.name < second.name
                                    : key_of(first, sort_column_) < key_of(second, sort_column_);
    });
}

}  // namespace tidemark::gui
