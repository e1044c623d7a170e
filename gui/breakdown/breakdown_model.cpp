// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/breakdown/breakdown_model.h"

#include <QFont>
#include <algorithm>

#include "gui/model/component_text.h"
#include "gui/model/text.h"

namespace tidemark::gui {

BreakdownModel::BreakdownModel(QObject* parent) : QAbstractTableModel(parent) {}

void BreakdownModel::show(std::optional<BreakdownRow> row) {
    const int before = rowCount(), after = row ? static_cast<int>(row->components.size()) + 1 : 0;
    if (before == after && after > 0) {
        // The rows are the same with other numbers: selection and scroll position stay.
        row_ = std::move(row);
        emit dataChanged(index(0, 0), index(after - 1, column_count - 1));
        return;
    }
    beginResetModel();
    row_ = std::move(row);
    endResetModel();
}

void BreakdownModel::set_brush_of(std::function<QBrush(const Component&)> brush_of) {
    brush_of_ = std::move(brush_of);
    if (rowCount() > 0) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
    }
}

int64_t BreakdownModel::total() const { return row_ ? row_->device_used.value_or(below(rowCount() - 1)) : 0; }

int64_t BreakdownModel::below(int row) const {
    int64_t sum = 0;
    for (int i = 0; i < row; ++i) {
        sum += row_->components[static_cast<size_t>(i)].bytes;
    }
    return sum;
}

const Component* BreakdownModel::component_at(int row) const {
    return row_ && row >= 0 && row < static_cast<int>(row_->components.size())
               ? &row_->components[static_cast<size_t>(row)]
               : nullptr;
}

int BreakdownModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !row_ ? 0 : static_cast<int>(row_->components.size()) + 1;
}

int BreakdownModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QString BreakdownModel::text(int row, int column) const {
    const Component* found = component_at(row);
    const int64_t value = found ? found->bytes : total();
    switch (column) {
        case component:
            return found ? component_name(*found) : row_->device_used ? tr("nvidia-smi, whole GPU") : tr("known total");
        case bytes: return bytes_text(static_cast<uint64_t>(value));
        case share: return percent_text(static_cast<double>(value), static_cast<double>(total()));
        default: return {};
    }
}

QVariant BreakdownModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) {
        return {};
    }
    const Component* found = component_at(index.row());
    const int64_t value = found ? found->bytes : total();
    const auto part = [&](int64_t at) {
        // If the components add up to more than NVML shows, the bars reach beyond it.
        const int64_t widest = std::max<int64_t>({total(), below(rowCount() - 1), 1});
        return std::clamp(static_cast<double>(at) / static_cast<double>(widest), 0.0, 1.0);
    };
    const int64_t start = found ? below(index.row()) : 0;
    switch (role) {
        case Qt::DisplayRole: return text(index.row(), index.column());
        case exact_text_role:
            return index.column() == bytes ? QString::number(value) : text(index.row(), index.column());
        case Qt::ToolTipRole: {
            const QString name = text(index.row(), component) + QStringLiteral(": ") + signed_bytes_text(value);
            const QString help = found ? component_help(found->kind) : tr("What nvidia-smi shows for the whole GPU.");
            return QStringLiteral("<p><b>%1</b></p><p>%2</p>").arg(name.toHtmlEscaped(), help.toHtmlEscaped());
        }
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::AlignVCenter | (index.column() <= step ? Qt::AlignLeft : Qt::AlignRight));
        case Qt::FontRole: {
            QFont bold;
            bold.setBold(true);
            return found ? QVariant() : QVariant(bold);
        }
        case brush_role: return found && brush_of_ ? QVariant(brush_of_(*found)) : QVariant();
        case from_role: return part(std::min(start, start + value));
        case to_role: return part(std::max(start, start + value));
        default: return {};
    }
}

QVariant BreakdownModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation == Qt::Horizontal && role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::AlignVCenter | (section <= step ? Qt::AlignLeft : Qt::AlignRight));
    }
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
        case component: return tr("Component");
        case step: return tr("Cumulative");
        case bytes: return tr("Bytes");
        case share: return tr("Share");
        default: return {};
    }
}

}  // namespace tidemark::gui
