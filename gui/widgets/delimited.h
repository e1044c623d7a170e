// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Tables as text: CSV (RFC 4180, UTF-8) and Markdown, in files and for the clipboard, and tab-separated lines.
#pragma once

#include <QString>
#include <QStringList>
#include <atomic>
#include <cstdint>
#include <functional>

class QAbstractItemModel;
class QTableView;

namespace tidemark::gui {

enum class TableFormat : uint8_t { csv, markdown };

QString csv_line(const QStringList& cells);
QString tsv_line(const QStringList& cells);

/// Fills the next row; returns false behind the last one.
using NextRow = std::function<bool(QStringList&)>;
/// Returns the header and all rows. Returns nothing once *canceled is true.
QString rows_text(TableFormat format, const QStringList& header, const NextRow& next,
                  const std::atomic<bool>* canceled = nullptr);
/// Writes the whole file or nothing. On failure *error says why. Writes nothing and returns false once *canceled is
/// true.
bool write_rows(const QString& path, TableFormat format, const QStringList& header, const NextRow& next, QString* error,
                const std::atomic<bool>* canceled = nullptr);
/// The same as CSV, for small tables.
bool write_csv(const QString& path, const QStringList& header, const NextRow& next, QString* error);

/// Returns a cell's text under exact_text_role (see gui/model/text.h), or what it displays.
QString exact_text(const QAbstractItemModel& model, int row, int column);

/// Writes every row of a small model.
bool write_model_csv(const QAbstractItemModel& model, const QString& path, QString* error);
/// Copies the selected rows with the columns that are shown and their header as TSV to the clipboard: exact values.
void copy_rows(const QTableView& view);
/// The same as CSV.
void copy_rows_as_csv(const QTableView& view);
/// Copies the selected rows as a Markdown table, with the columns that are shown, in their order and words.
void copy_rows_as_markdown(const QTableView& view);

}  // namespace tidemark::gui
