// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/widgets/delimited.h"

#include <QAbstractItemView>
#include <QClipboard>
#include <QGuiApplication>
#include <QSaveFile>
#include <algorithm>

#include "gui/model/text.h"

namespace tidemark::gui {

namespace {

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

}  // namespace

QString csv_line(const QStringList& cells) {
    QStringList quoted;
    for (const QString& cell : cells) {
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

bool write_csv(const QString& path, const QStringList& header, const std::function<bool(QStringList&)>& next,
               QString* error, const std::atomic<bool>* canceled) {
    QSaveFile file(path);
    bool ok = file.open(QIODevice::WriteOnly);
    QByteArray buffer = csv_line(header).toUtf8();
    QStringList cells;
    while (ok && next(cells)) {
        if (canceled && *canceled) {
            return false;  // `file` removes the unfinished file
        }
        buffer += csv_line(cells).toUtf8();
        if (buffer.size() > (1 << 20)) {
            ok = file.write(buffer) == buffer.size();
            buffer.clear();
        }
    }
    ok = ok && file.write(buffer) == buffer.size() && file.commit();
    if (!ok && error) {
        *error = file.errorString();
    }
    return ok;
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

void copy_rows(const QAbstractItemView& view) {
    const QAbstractItemModel& model = *view.model();
    QString text = tsv_line(header_of(model));
    QModelIndexList rows = view.selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    for (const QModelIndex& index : rows) {
        text += tsv_line(cells_of(model, index.row()));
    }
    QGuiApplication::clipboard()->setText(text);
}

}  // namespace tidemark::gui
