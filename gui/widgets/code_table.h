// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Lines of source as rich text. It contains theme colors, so a new theme needs new text.
#pragma once

#include <QColor>
#include <QString>
#include <string>

#include "storage/trace/source_text.h"

namespace tidemark::gui {

/// Returns a cell with code. `html` is escaped.
QString code_cell(const QString& html, const QColor& color);
/// Returns rows, "<tr>…</tr>", with a background of their own.
QString code_table(const QString& rows);
/// Returns the lines with their numbers; the one that is meant is marked.
QString source_table(const SourceExcerpt& excerpt);
/// Returns the lines of a unified diff.
QString diff_table(const std::string& diff);

}  // namespace tidemark::gui
