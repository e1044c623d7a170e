// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/changes/changes_model.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "gui/model/palette.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"
#include "storage/compare/compare.h"

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

RowChange kind_of(const ChangedGroup& group) { return change_between(group.begin, group.end); }

QString kind_text(RowChange kind, bool of_range) {
    switch (kind) {
        case RowChange::only_a: return of_range ? ChangesModel::tr("freed") : ChangesModel::tr("only in A");
        case RowChange::only_b: return of_range ? ChangesModel::tr("new") : ChangesModel::tr("only in B");
        case RowChange::grown: return ChangesModel::tr("grown");
        case RowChange::shrunk: return ChangesModel::tr("shrunk");
        case RowChange::same: return ChangesModel::tr("same");
    }
    return {};
}

QString cell(const ChangedGroup& group, int column, bool of_range) {
    switch (column) {
        case ChangesModel::kind: return kind_text(kind_of(group), of_range);
        case ChangesModel::difference: return change_text(group.difference());
        case ChangesModel::begin: return amounts_text(group.begin);
        case ChangesModel::end: return amounts_text(group.end);
        case ChangesModel::made: return amounts_text(group.made);
        case ChangesModel::freed: return amounts_text(group.freed);
        default: return {};
    }
}

/// Returns "7,340,032 bytes in 12 allocations".
QString amounts_tip(const Amounts& amounts) {
    return ChangesModel::tr("%1 in %2 allocation(s)", nullptr, plural(amounts.count))
        .arg(exact_bytes_text(static_cast<uint64_t>(amounts.bytes)), count_text(amounts.count));
}

/// `shown`: its name in the table.
QString name_tip(const QString& shown, const ChangedGroup& group, GroupBy by) {
    QString tip = shown;
    if (!group.name_in_a.empty()) {
        tip += '\n' + ChangesModel::tr("In A: %1").arg(group_text(by, group.name_in_a));
    }
    return tip_text(tip);
}

QString number_tip(const ChangedGroup& group, int column) {
    const int64_t difference = group.difference();
    switch (column) {
        case ChangesModel::difference:
            return (difference < 0 ? QStringLiteral("−") : QString()) +
                   exact_bytes_text(static_cast<uint64_t>(std::llabs(difference)));
        case ChangesModel::begin: return amounts_tip(group.begin);
        case ChangesModel::end: return amounts_tip(group.end);
        case ChangesModel::made: return amounts_tip(group.made);
        case ChangesModel::freed: return amounts_tip(group.freed);
        default: return {};
    }
}

QString exact_cell(const ChangedGroup& group, int column, bool of_range) {
    switch (column) {
        case ChangesModel::name: return to_qstring(group.name);
        case ChangesModel::kind: return kind_text(kind_of(group), of_range);
        case ChangesModel::difference: return QString::number(group.difference());
        default: return QString::number(key_of(group, column));
    }
}

}  // namespace

ChangesModel::ChangesModel(QObject* parent) : QAbstractTableModel(parent) {}

void ChangesModel::show(std::shared_ptr<const Changes> changes, ComparedPoints points, const StackTable* stacks) {
    beginResetModel();
    points_ = points;
    stacks_ = stacks;
    changes_ = std::move(changes);
    order_.resize(changes_ ? changes_->groups.size() : 0);
    sort_order();
    endResetModel();
}

/// Returns a stack as the other tables name it: by the site alone, several rows would have one name.
QString ChangesModel::group_name(const ChangedGroup& group) const {
    return stacks_ != nullptr && group.stack != 0 ? stack_text(*stacks_, group.stack)
                                                  : group_text(changes_->by, group.name);
}

const ChangedGroup& ChangesModel::group_at(int row) const { return changes_->groups[order_[static_cast<size_t>(row)]]; }

int ChangesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int ChangesModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QVariant ChangesModel::data(const QModelIndex& index, int role) const {
    const ChangedGroup& group = group_at(index.row());
    const bool of_range = points_ == ComparedPoints::range;
    const bool is_text = index.column() == name || index.column() == kind;
    switch (role) {
        case Qt::DisplayRole: return index.column() == name ? group_name(group) : cell(group, index.column(), of_range);
        case exact_text_role: return exact_cell(group, index.column(), of_range);
        case Qt::DecorationRole:
            return index.column() == name && changes_->by == GroupBy::category
                       ? QVariant(category_color(Theme::current(), category_from_name(group.name)))
                       : QVariant();
        case Qt::ToolTipRole:
            return index.column() == name ? name_tip(group_name(group), group, changes_->by)
                                          : number_tip(group, index.column());
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::Alignment(is_text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        default: return {};
    }
}

QVariant ChangesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    const bool is_text = section == name || section == kind;
    switch (role) {
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::Alignment(is_text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        case Qt::DisplayRole: return heading(section);
        case Qt::ToolTipRole: return heading_tip(section);
        default: return {};
    }
}

QString ChangesModel::heading(int column) const {
    const bool of_range = points_ == ComparedPoints::range;
    switch (column) {
        case name: return tr("Group");
        case kind: return tr("Kind");
        case difference: return tr("Change");
        case begin: return of_range ? tr("At the start") : QStringLiteral("A");
        case end: return of_range ? tr("At the end") : QStringLiteral("B");
        case made: return of_range ? tr("New") : tr("Only in B");
        case freed: return of_range ? tr("Freed") : tr("Only in A");
        default: return {};
    }
}

QString ChangesModel::heading_tip(int column) const {
    const bool of_range = points_ == ComparedPoints::range;
    switch (column) {
        case kind: return tr("Whether the group exists at both points, and how its bytes differ");
        case begin:
            return of_range ? tr("Active at the start of the range: bytes of blocks, and the number of allocations")
                            : tr("Active at the point of A: bytes of blocks, and the number of allocations");
        case end:
            return of_range ? tr("Active at the end of the range: bytes of blocks, and the number of allocations")
                            : tr("Active at the point of B: bytes of blocks, and the number of allocations");
        case made:
            return of_range ? tr("Allocated within the range, and active at its end")
                            : tr("Allocations that are active at the point of B and not at that of A");
        case freed:
            return of_range ? tr("Active at the start of the range, and freed within it")
                            : tr("Allocations that are active at the point of A and not at that of B");
        default: return {};
    }
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
        return sort_column_ == name   ? first.name < second.name
               : sort_column_ == kind ? kind_of(first) < kind_of(second)
                                      : key_of(first, sort_column_) < key_of(second, sort_column_);
    });
}

}  // namespace tidemark::gui
