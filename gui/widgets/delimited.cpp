// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/delimited.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QTableView>
#include <algorithm>

#include "gui/model/file_name.h"
#include "gui/model/text.h"
#include "storage/base/part_file.h"

namespace tidemark::gui {

namespace {

constexpr size_t most_buffered = 1 << 20;

QString markdown_line(QStringList cells) {
    for (QString& cell : cells) {
        cell.replace(u'\\', QLatin1String("\\\\")).replace(u'|', QLatin1String("\\|")).replace(u'\n', u' ');
    }
    return QStringLiteral("| %1 |\n").arg(cells.join(QLatin1String(" | ")));
}

QString line_of(TableFormat format, const QStringList& cells) {
    return format == TableFormat::csv ? csv_line(cells) : markdown_line(cells);
}

QString head_of(TableFormat format, const QStringList& header) {
    const QStringList rule(header.size(), QStringLiteral("---"));
    return line_of(format, header) + (format == TableFormat::markdown ? markdown_line(rule) : QString());
}

Status write_lines(const QString& path, TableFormat format, const QStringList& header, const NextRow& next,
                   const std::atomic<bool>* canceled) {
    auto file = PartFile::create(bytes_of_file_name(path), IfExists::replace, FileAccess::umask);
    if (!file) {
        return file.error();
    }
    std::string buffer = head_of(format, header).toStdString();
    QStringList cells;
    while (next(cells)) {
        if (canceled && *canceled) {
            return canceled_error();
        }
        buffer += line_of(format, cells).toStdString();
        if (buffer.size() > most_buffered) {
            TIDEMARK_TRY(file->write(buffer));
            buffer.clear();
        }
    }
    TIDEMARK_TRY(file->write(buffer));
    return file->keep();
}

QStringList header_of(const QAbstractItemModel& model) {
    QStringList header;
    for (int column = 0; column < model.columnCount(); ++column) {
        header << model.headerData(column, Qt::Horizontal).toString();
    }
    return header;
}

QStringList cells_of(const QAbstractItemModel& model, int row) {
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column) {
        cells << exact_text(model, row, column);
    }
    return cells;
}

/// Returns the columns that are shown, in their order.
std::vector<int> shown_columns(const QTableView& view) {
    const QHeaderView& header = *view.horizontalHeader();
    std::vector<int> columns;
    for (int place = 0; place < header.count(); ++place) {
        if (const int column = header.logicalIndex(place); !header.isSectionHidden(column)) {
            columns.push_back(column);
        }
    }
    return columns;
}

/// Spreadsheets compute cells that begin so; names come from the trace, which may be a stranger's.
bool is_formula(const QString& cell) {
    bool is_number = false;
    (void)cell.toDouble(&is_number);
    return !cell.isEmpty() && QStringLiteral("=+-@\t\r").contains(cell.front()) && !is_number;
}

}  // namespace

QString csv_line(const QStringList& cells) {
    QStringList quoted;
    for (const QString& text : cells) {
        const QString cell = is_formula(text) ? u'\'' + text : text;
        const bool needs_quotes = std::any_of(
            cell.begin(), cell.end(), [](QChar c) { return c == u'"' || c == u',' || c == u'\n' || c == u'\r'; });
        quoted << (needs_quotes ? u'"' + QString(cell).replace(u'"', QLatin1String("\"\"")) + u'"' : cell);
    }
    return quoted.join(u',') + QLatin1String("\r\n");
}

QString tsv_line(const QStringList& cells) {
    QStringList clean;
    for (QString cell : cells) {
        clean << cell.replace(u'\t', u' ').replace(u'\n', u' ');
    }
    return clean.join(u'\t') + u'\n';
}

QString rows_text(TableFormat format, const QStringList& header, const NextRow& next,
                  const std::atomic<bool>* canceled) {
    QString text = head_of(format, header);
    QStringList cells;
    while (next(cells)) {
        if (canceled && *canceled) {
            return {};
        }
        text += line_of(format, cells);
    }
    return text;
}

bool write_rows(const QString& path, TableFormat format, const QStringList& header, const NextRow& next, QString* error,
                const std::atomic<bool>* canceled) {
    const Status status = write_lines(path, format, header, next, canceled);
    if (!status && error && status.error().kind != ErrorKind::canceled) {
        *error = error_text(status.error());
    }
    return status.has_value();
}

bool write_csv(const QString& path, const QStringList& header, const NextRow& next, QString* error) {
    return write_rows(path, TableFormat::csv, header, next, error);
}

QString exact_text(const QAbstractItemModel& model, int row, int column) {
    const QModelIndex index = model.index(row, column);
    const QVariant exact = index.data(exact_text_role);
    return (exact.isValid() ? exact : index.data()).toString();
}

bool write_model_csv(const QAbstractItemModel& model, const QString& path, QString* error) {
    int row = 0;
    return write_csv(
        path, header_of(model),
        [&](QStringList& cells) {
            if (row >= model.rowCount()) {
                return false;
            }
            cells = cells_of(model, row++);
            return true;
        },
        error);
}

namespace {

/// Copies the selected rows and the shown columns, in the order of the view.
void copy_selected(const QTableView& view, QString (*line)(const QStringList& cells)) {
    const QAbstractItemModel& model = *view.model();
    const std::vector<int> columns = shown_columns(view);
    QStringList cells;
    for (const int column : columns) {
        cells << model.headerData(column, Qt::Horizontal).toString();
    }
    QString text = line(cells);
    QModelIndexList rows = view.selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    for (const QModelIndex& index : rows) {
        cells.clear();
        for (const int column : columns) {
            cells << exact_text(model, index.row(), column);
        }
        text += line(cells);
    }
    QGuiApplication::clipboard()->setText(text);
}

}  // namespace

void copy_rows(const QTableView& view) { copy_selected(view, tsv_line); }
void copy_rows_as_csv(const QTableView& view) { copy_selected(view, csv_line); }

void copy_rows_as_markdown(const QTableView& view) {
    const QAbstractItemModel& model = *view.model();
    const std::vector<int> columns = shown_columns(view);
    QStringList titles, rule;
    for (const int column : columns) {
        const int alignment = model.index(0, column).data(Qt::TextAlignmentRole).toInt();
        titles << model.headerData(column, Qt::Horizontal).toString();
        rule << ((alignment & Qt::AlignRight) != 0 ? QStringLiteral("---:") : QStringLiteral("---"));
    }
    QString text = markdown_line(titles) + markdown_line(rule);
    QModelIndexList rows = view.selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    for (const QModelIndex& row : rows) {
        QStringList cells;
        for (const int column : columns) {
            cells << model.index(row.row(), column).data().toString();
        }
        text += markdown_line(cells);
    }
    QGuiApplication::clipboard()->setText(text);
}

}  // namespace tidemark::gui
