// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/sql/sql_model.h"

#include <QApplication>
#include <QPalette>
#include <algorithm>
#include <numeric>

#include "gui/model/palette.h"
#include "gui/model/plural.h"
#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

bool is_number(const QueryValue& value) {
    return std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value);
}

/// As ORDER BY of SQLite: NULL, numbers, texts, blobs.
int rank_of(const QueryValue& value) {
    return std::holds_alternative<std::monostate>(value) ? 0
           : is_number(value)                            ? 1
           : std::holds_alternative<std::string>(value)  ? 2
                                                         : 3;
}

double number_of(const QueryValue& value) {
    const auto* integer = std::get_if<int64_t>(&value);
    return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

bool is_less(const QueryValue& a, const QueryValue& b) {
    const int rank = rank_of(a);
    if (rank != rank_of(b)) {
        return rank < rank_of(b);
    }
    const auto* a_integer = std::get_if<int64_t>(&a);
    const auto* b_integer = std::get_if<int64_t>(&b);
    if (a_integer != nullptr && b_integer != nullptr) {
        return *a_integer < *b_integer;
    }
    switch (rank) {
        case 1: return number_of(a) < number_of(b);
        case 2: return std::get<std::string>(a) < std::get<std::string>(b);
        case 3: return std::get<BlobSize>(a).bytes < std::get<BlobSize>(b).bytes;
        default: return false;
    }
}

/// `digits`: significant ones of a number that is not whole.
QString value_text(const QueryValue& value, int digits) {
    if (const auto* integer = std::get_if<int64_t>(&value)) {
        return QString::number(*integer);
    }
    if (const auto* real = std::get_if<double>(&value)) {
        return QString::number(*real, 'g', digits);
    }
    if (const auto* blob = std::get_if<BlobSize>(&value)) {
        return SqlModel::tr("blob of %n byte(s)", nullptr, plural(blob->bytes));
    }
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? to_qstring(*text) : QString();
}

constexpr int shown_digits = 10, exact_digits = 17;

}  // namespace

void SqlModel::show(std::shared_ptr<const QueryRows> rows) {
    beginResetModel();
    rows_ = std::move(rows);
    order_.resize(rows_ ? rows_->row_count() : 0);
    std::iota(order_.begin(), order_.end(), size_t{0});
    endResetModel();
}

std::optional<int64_t> SqlModel::allocation_of(const QModelIndex& index) const {
    if (!index.isValid()) {
        return std::nullopt;
    }
    const size_t row = order_[static_cast<size_t>(index.row())];
    const auto id_in = [&](size_t column) {
        const auto* id = std::get_if<int64_t>(&rows_->at(row, column));
        return rows_->columns[column].is_allocation && id != nullptr ? std::optional(*id) : std::nullopt;
    };
    auto id = id_in(static_cast<size_t>(index.column()));
    for (size_t column = 0; !id && column < rows_->columns.size(); ++column) {
        id = id_in(column);
    }
    return id;
}

int SqlModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int SqlModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || !rows_ ? 0 : static_cast<int>(rows_->columns.size());
}

QVariant SqlModel::tip(size_t column, const QueryValue& value) const {
    if (rows_->columns[column].is_allocation) {
        return tr("Double-click or press Enter to select this allocation in every pane");
    }
    const auto* integer = std::get_if<int64_t>(&value);
    if (integer != nullptr && rows_->columns[column].name.ends_with("bytes")) {
        return signed_bytes_text(*integer);
    }
    return std::holds_alternative<std::string>(value) ? tip_text(value_text(value, exact_digits)) : QVariant();
}

QVariant SqlModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const auto column = static_cast<size_t>(index.column());
    const QueryValue& value = rows_->at(order_[static_cast<size_t>(index.row())], column);
    const bool is_null = std::holds_alternative<std::monostate>(value);
    switch (role) {
        case Qt::DisplayRole:
            if (const auto* text = std::get_if<std::string>(&value)) {
                return name_text(*text);
            }
            return is_null ? QStringLiteral("NULL") : value_text(value, shown_digits);
        case exact_text_role: return value_text(value, exact_digits);
        case Qt::TextAlignmentRole:
            return QVariant(Qt::Alignment(is_number(value) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        case Qt::ForegroundRole:
            return is_null                                ? QVariant(Theme::current().faint_text)
                   : rows_->columns[column].is_allocation ? QVariant(QApplication::palette().link().color())
                                                          : QVariant();
        case Qt::ToolTipRole: return tip(column, value);
        default: return {};
    }
}

QVariant SqlModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        const bool is_numeric = !order_.empty() && is_number(rows_->at(order_.front(), static_cast<size_t>(section)));
        return QVariant(Qt::Alignment(is_numeric ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    return role == Qt::DisplayRole ? QVariant(name_text(rows_->columns[static_cast<size_t>(section)].name))
                                   : QVariant();
}

void SqlModel::sort(int column, Qt::SortOrder order) {
    emit layoutAboutToBeChanged();
    std::iota(order_.begin(), order_.end(), size_t{0});
    if (column >= 0 && column < columnCount()) {
        const auto at = static_cast<size_t>(column);
        std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
            return order == Qt::AscendingOrder ? is_less(rows_->at(a, at), rows_->at(b, at))
                                               : is_less(rows_->at(b, at), rows_->at(a, at));
        });
    }
    emit layoutChanged();
}

}  // namespace tidemark::gui
