// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Writes allocations into a CSV file.
#pragma once

#include <QString>
#include <QStringList>

#include "gui/table/allocation_query.h"

namespace tidemark::gui {

struct AllocationExport {
    std::shared_ptr<const Analysis> analysis;
    AllocationRows rows;
    CategoryLookup category_of;
    QStringList header;  ///< a cell for each AllocationColumn
    QString path;
};

struct ExportOutcome {
    QString path;
    QString error;  ///< empty: the file is written
};

/// Writes all columns of the rows with exact values. Writes the whole file or nothing. Returns null if canceled.
/// Thread: any.
std::shared_ptr<const ExportOutcome> write_allocations(const AllocationExport& wanted, Progress& progress);

}  // namespace tidemark::gui
