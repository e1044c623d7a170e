// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The style of all tables: rows of one height, room between columns, small color swatches; and the copies of their
// rows.
#pragma once

class QTableView;

namespace tidemark::gui {

/// Makes a table read-only with whole rows of one height (tables may have millions of rows).
void set_table_style(QTableView* table);

/// Returns the height of a row with its usual room around the text.
int row_height(const QTableView& table);

/// Gives the table a menu that copies its selected rows, or all if none is selected: as text (Ctrl+C), CSV and
/// Markdown.
void add_copy_actions(QTableView* table);

}  // namespace tidemark::gui
