// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Tables as text: CSV files (RFC 4180, UTF-8) and tab-separated lines for the clipboard.
#pragma once

#include <QString>
#include <QStringList>
#include <atomic>
#include <functional>

class QAbstractItemModel;
class QAbstractItemView;
class QTableView;

namespace tidemark::gui {

QString csv_line(const QStringList& cells);
QString tsv_line(const QStringList& cells);

/// Writes the whole file or nothing: `next(cells)` fills a row until it returns false. On failure *error says why.
/// Writes nothing and returns false once *canceled is true.
bool write_csv(const QString& path, const QStringList& header, const std::function<bool(QStringList&)>& next,
               QString* error, const std::atomic<bool>* canceled = nullptr);

/// Returns a cell's text under exact_text_role (see gui/model/text.h), or what it displays.
QString exact_text(const QAbstractItemModel& model, int row, int column);

/// Writes every row of a small model.
bool write_model_csv(const QAbstractItemModel& model, const QString& path, QString* error);
/// Copies the selected rows of a view with their header as TSV to the clipboard.
void copy_rows(const QAbstractItemView& view);
/// Copies the selected rows with their header as CSV to the clipboard.
void copy_rows_as_csv(const QAbstractItemView& view);
/// Copies the selected rows as a Markdown table, with the columns that are shown, in their order and words.
void copy_rows_as_markdown(const QTableView& view);

}  // namespace tidemark::gui
