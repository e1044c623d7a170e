// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/source/source_model.h"

#include <QFontDatabase>
#include <QPainter>
#include <QTextLayout>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "gui/model/palette.h"
#include "gui/model/text.h"
#include "gui/widgets/severity_mark.h"

namespace tidemark::gui {

namespace {

constexpr qsizetype longest_painted_line = 1000;
constexpr int code_margin = 6;
constexpr double unbroken = 1e6;  // pixels: the width of a line of code

QFont code_font() { return QFontDatabase::systemFont(QFontDatabase::FixedFont); }

/// Returns the mark before the text of a row that is not a line of the file.
QString marked_text(const SourceRow& row) {
    switch (row.kind) {
        case SourceRow::Kind::line: return row.text;
        case SourceRow::Kind::gap: return QStringLiteral("⋯ ") + row.text;
        case SourceRow::Kind::note: return QStringLiteral("▸ ") + row.text;
        case SourceRow::Kind::removed: return QStringLiteral("− ") + row.text;
        case SourceRow::Kind::added: return QStringLiteral("+ ") + row.text;
        case SourceRow::Kind::code: return QStringLiteral("  ") + row.text;
    }
    return {};
}

/// Breaks the text into lines of this width. Returns the height of all.
double lay_out(QTextLayout& layout, double width) {
    double height = 0;
    layout.beginLayout();
    for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
        line.setLineWidth(width);
        line.setPosition(QPointF(0, height));
        height += line.height();
    }
    layout.endLayout();
    return height;
}

}  // namespace

SourceModel::SourceModel(QObject* parent) : QAbstractTableModel(parent) {}

void SourceModel::show(std::vector<SourceRow> rows) {
    beginResetModel();
    rows_ = std::move(rows);
    most_ = {};
    for (int row = 0; row < rowCount(); ++row) {
        for (int column = active; column <= leaked; ++column) {
            auto& most = most_[static_cast<size_t>(column)];
            most = std::max(most, bytes(row, column));
        }
    }
    endResetModel();
}

int SourceModel::row_of(int32_t line) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const SourceRow& row) {
        return row.kind == SourceRow::Kind::line && row.line == line;
    });
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

/// A line that only calls others is not hot, unless nothing is: then each line with memory is.
bool SourceModel::is_hot(int row) const {
    const SourceRow& shown = row_at(row);
    const bool has_self = most_bytes(self) > 0 || most_bytes(leaked) > 0;
    return has_self ? shown.bytes.self > 0 || shown.bytes.leaked > 0 : shown.has_memory;
}

int SourceModel::next_hot_row(int row, int direction) const {
    const int count = rowCount();
    for (int step = 1; step <= count; ++step) {
        const int next = ((std::max(row, -1) + direction * step) % count + count) % count;
        if (is_hot(next)) {
            return next;
        }
    }
    return -1;
}

int SourceModel::hottest_row() const {
    const auto heat = [this](int row) {
        const LineBytes& bytes = row_at(row).bytes;
        return std::tuple(bytes.leaked, bytes.self, bytes.active);
    };
    int hottest = -1;
    for (int row = 0; row < rowCount(); ++row) {
        if (is_hot(row) && (hottest < 0 || heat(row) > heat(hottest))) {
            hottest = row;
        }
    }
    return hottest;
}

int SourceModel::next_found_row(int row, const QString& text) const {
    const int count = rowCount();
    for (int step = 1; step <= count && !text.isEmpty(); ++step) {
        const int next = (std::max(row, -1) + step) % count;
        if (row_at(next).text.contains(text, Qt::CaseInsensitive)) {
            return next;
        }
    }
    return -1;
}

uint64_t SourceModel::bytes(int row, int column) const {
    const LineBytes& bytes = row_at(row).bytes;
    switch (column) {
        case active: return bytes.active;
        case self: return bytes.self;
        case allocated: return bytes.allocated;
        case peak: return bytes.peak;
        case leaked: return bytes.leaked;
        default: return 0;
    }
}

int SourceModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int SourceModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QVariant SourceModel::data(const QModelIndex& index, int role) const {
    const SourceRow& row = row_at(index.row());
    const uint64_t value = bytes(index.row(), index.column());
    const bool is_number = index.column() < line;
    switch (role) {
        case Qt::DisplayRole:
            return index.column() == code              ? marked_text(row)
                   : index.column() != line            ? (value == 0 ? QString() : bytes_text(value))
                   : row.kind == SourceRow::Kind::line ? QString::number(row.line)
                                                       : QString();
        case exact_text_role: return is_number ? QString::number(value) : data(index, Qt::DisplayRole).toString();
        case Qt::ToolTipRole:
            if (index.column() == code) {
                return tip_text(row.text);
            }
            return index.column() == allocated && value > 0
                       ? tr("%1 in %2 allocations").arg(both_bytes_text(value), count_text(row.bytes.allocations))
                   : value > 0 ? both_bytes_text(value)
                               : QString();
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(Qt::Alignment(index.column() == code ? Qt::AlignLeft : Qt::AlignRight) |
                                       Qt::AlignVCenter);
        default: return {};
    }
}

QVariant SourceModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::Alignment(section == code ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    if (role == Qt::DisplayRole) {
        switch (section) {
            case active: return tr("Active");
            case self: return tr("Self");
            case allocated: return tr("Total allocated");
            case peak: return tr("At the peak");
            case leaked: return tr("Leaked");
            case line: return tr("Line");
            case code: return tr("Source");
            default: return {};
        }
    }
    if (role == Qt::ToolTipRole) {
        switch (section) {
            case active: return tr("Active at the cursor: allocations that have this line anywhere on their stack");
            case self: return tr("The active bytes for which this is the innermost line of your own code");
            case allocated: return tr("Allocated in the selected range, or in the whole run, freed or not");
            case peak: return tr("Active when most memory was allocated");
            case leaked: return tr("Of the allocations that leaks retain");
            default: return {};
        }
    }
    return {};
}

SourceDelegate::SourceDelegate(const SourceModel& model, QObject* parent)
    : QStyledItemDelegate(parent), model_(model) {}

void SourceDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem cell = option;
    initStyleOption(&cell, index);
    const SourceRow& row = model_.row_at(index.row());
    const Theme theme = Theme::current();
    if (index.column() == SourceModel::code) {
        cell.text.clear();
        cell.widget->style()->drawControl(QStyle::CE_ItemViewItem, &cell, painter, cell.widget);
        paint_code(*painter, option, row);
        return;
    }
    if (index.column() < SourceModel::line) {
        const QString text = std::exchange(cell.text, {});
        cell.widget->style()->drawControl(QStyle::CE_ItemViewItem, &cell, painter, cell.widget);
        paint_bar(*painter, option, index);
        painter->setPen(
            option.palette.color(option.state & QStyle::State_Selected ? QPalette::HighlightedText : QPalette::Text));
        painter->drawText(option.rect.adjusted(0, 0, -code_margin, 0), Qt::AlignRight | Qt::AlignVCenter, text);
        return;
    }
    cell.palette.setColor(QPalette::Text, theme.faint_text);
    cell.widget->style()->drawControl(QStyle::CE_ItemViewItem, &cell, painter, cell.widget);
}

int SourceDelegate::note_height(int row, int width, const QFont& font) const {
    QTextLayout layout(marked_text(model_.row_at(row)).left(longest_painted_line), font);
    return static_cast<int>(std::ceil(lay_out(layout, width - 2 * code_margin))) + 6;
}

void SourceDelegate::paint_bar(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const uint64_t bytes = model_.bytes(index.row(), index.column());
    if (bytes == 0) {
        return;
    }
    const Theme theme = Theme::current();
    const double part = static_cast<double>(bytes) / static_cast<double>(model_.most_bytes(index.column()));
    QColor color = index.column() == SourceModel::leaked ? severity_color(theme, Severity::leak) : theme.reserved_line;
    color.setAlphaF(static_cast<float>(0.15 + 0.35 * part));
    QRectF bar(option.rect.adjusted(1, 1, -1, -1));
    bar.setLeft(bar.right() - std::max(2.0, bar.width() * part));
    painter.fillRect(bar, color);
}

void SourceDelegate::paint_code(QPainter& painter, const QStyleOptionViewItem& option, const SourceRow& row) const {
    const Theme theme = Theme::current();
    const bool is_selected = option.state & QStyle::State_Selected;
    const bool is_code = row.kind != SourceRow::Kind::gap && row.kind != SourceRow::Kind::note;
    if (row.kind == SourceRow::Kind::removed || row.kind == SourceRow::Kind::added) {
        QColor tint = severity_color(theme, row.kind == SourceRow::Kind::added ? Severity::pattern : Severity::leak);
        tint.setAlphaF(0.18F);
        painter.fillRect(option.rect, tint);
    } else if (row.kind == SourceRow::Kind::code) {
        painter.fillRect(option.rect, theme.grid);  // else it looks like lines of the file
    }
    const QString text = marked_text(row).left(longest_painted_line);
    const int shift = static_cast<int>(marked_text(row).size() - row.text.size());
    const QColor plain = is_selected                         ? option.palette.color(QPalette::HighlightedText)
                         : row.kind == SourceRow::Kind::note ? severity_color(theme, Severity::leak)
                         : is_code                           ? option.palette.color(QPalette::Text)
                                                             : theme.faint_text;
    QTextLayout layout(text, is_code ? code_font() : option.font);
    QList<QTextLayout::FormatRange> formats;
    if (!is_selected) {
        for (const CodeSpan& span : row.spans) {
            QTextCharFormat format;
            format.setForeground(code_color(theme, span.part));
            formats.push_back({span.begin + shift, span.length, format});
        }
    }
    if (const auto found = search_.isEmpty() ? -1 : text.indexOf(search_, 0, Qt::CaseInsensitive); found >= 0) {
        QTextCharFormat format;
        format.setBackground(mixed(theme.background, theme.selection, 0.5));
        formats.push_back({static_cast<int>(found), static_cast<int>(search_.size()), format});
    }
    layout.setFormats(formats);
    const double height = lay_out(layout, is_code ? unbroken : option.rect.width() - 2 * code_margin);
    painter.save();
    painter.setClipRect(option.rect);
    painter.setPen(plain);
    layout.draw(&painter,
                QPointF(option.rect.left() + code_margin, option.rect.top() + (option.rect.height() - height) / 2));
    painter.restore();
}

}  // namespace tidemark::gui
