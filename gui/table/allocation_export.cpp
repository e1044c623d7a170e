// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/table/allocation_export.h"

#include "gui/table/allocation_model.h"

namespace tidemark::gui {

namespace {

std::vector<AllocationColumn> written_columns(bool is_grouped) {
    if (is_grouped) {
        return {AllocationColumn::line,      AllocationColumn::count,    AllocationColumn::block_size,
                AllocationColumn::requested, AllocationColumn::rounding, AllocationColumn::largest,
                AllocationColumn::lifetime};
    }
    std::vector<AllocationColumn> columns;
    for (int column = 0; column < allocation_column_count; ++column) {
        columns.push_back(static_cast<AllocationColumn>(column));
    }
    return columns;
}

}  // namespace

std::shared_ptr<const ExportOutcome> write_allocations(const AllocationExport& wanted, Progress& progress) {
    const bool is_grouped = !wanted.rows->groups.empty();
    const size_t count = is_grouped ? wanted.rows->groups.size() : wanted.rows->rows.size();
    const std::vector<AllocationColumn> columns = written_columns(is_grouped);
    QStringList header;
    for (const AllocationColumn column : columns) {
        header << (is_grouped && column == AllocationColumn::line ? AllocationModel::tr("Group")
                                                                  : AllocationModel::title(column));
    }
    size_t row = 0;
    const auto next = [&](QStringList& cells) {
        if (row == count) {
            return false;
        }
        if (row % 1024 == 0) {
            progress.report("export", static_cast<double>(row) / static_cast<double>(count));
        }
        cells.clear();
        for (const AllocationColumn column : columns) {
            cells << (is_grouped ? AllocationModel::exact_group_cell(wanted.rows->groups[row], column)
                                 : AllocationModel::exact_cell(*wanted.analysis, wanted.rows->rows[row], column,
                                                               wanted.category_of));
        }
        ++row;
        return true;
    };
    auto outcome = std::make_shared<ExportOutcome>();
    outcome->path = wanted.path;
    outcome->rows = count;
    if (wanted.path.isEmpty()) {
        outcome->text = rows_text(wanted.format, header, next, &progress.canceled);
    } else {
        write_rows(wanted.path, wanted.format, header, next, &outcome->error, &progress.canceled);
    }
    return progress.canceled ? nullptr : outcome;
}

}  // namespace tidemark::gui
