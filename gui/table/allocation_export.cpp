// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/allocation_export.h"

#include "gui/table/allocation_model.h"
#include "gui/widgets/delimited.h"

namespace tidemark::gui {

std::shared_ptr<const ExportOutcome> write_allocations(const AllocationExport& wanted, Progress& progress) {
    const std::vector<AllocationIndex>& rows = wanted.rows.rows;
    size_t row = 0;
    const auto next = [&](QStringList& cells) {
        if (row == rows.size()) {
            return false;
        }
        if (row % 1024 == 0) {
            progress.report("export", static_cast<double>(row) / static_cast<double>(rows.size()));
        }
        cells.clear();
        for (int column = 0; column < allocation_column_count; ++column) {
            cells << AllocationModel::exact_cell(*wanted.analysis, rows[row], static_cast<AllocationColumn>(column),
                                                 wanted.category_of);
        }
        ++row;
        return true;
    };
    auto outcome = std::make_shared<ExportOutcome>();
    outcome->path = wanted.path;
    write_csv(wanted.path, wanted.header, next, &outcome->error, &progress.canceled);
    return progress.canceled ? nullptr : outcome;
}

}  // namespace tidemark::gui
