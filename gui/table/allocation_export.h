// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// All rows of the table as CSV or Markdown: into a file, or as text for the clipboard.
#pragma once

#include <QString>
#include <QStringList>

#include "gui/table/allocation_query.h"
#include "gui/widgets/delimited.h"

namespace tidemark::gui {

/// The clipboard is text in memory, which other programs copy again.
constexpr size_t most_copied_rows = 100'000;

struct AllocationExport {
    std::shared_ptr<const Analysis> analysis;
    std::shared_ptr<const AllocationRows> rows;
    CategoryLookup category_of;
    TableFormat format = TableFormat::csv;
    QString path;  ///< empty: returns the text instead
};

struct ExportOutcome {
    QString path;
    QString text;   ///< without a path
    QString error;  ///< empty: everything is written
    size_t rows = 0;
};

/// Writes all columns of the rows with exact values; of a grouped table its groups. Writes the whole file or nothing.
/// Returns null if canceled. Thread: any.
std::shared_ptr<const ExportOutcome> write_allocations(const AllocationExport& wanted, Progress& progress);

}  // namespace tidemark::gui
