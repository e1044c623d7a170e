// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include <array>

#include "storage/tables/tables.h"

namespace tidemark {

std::span<const TableInfo* const> dataset_tables() {
    static const std::array tables{&runs_table(),     &sites_table(),     &steps_table(),
                                   &findings_table(), &breakdown_table(), &allocations_table()};
    return tables;
}

Status write_dataset(const Explained& device, ExportedAllocations allocations, const TakeBatch& take) {
    const AnalysisContext& context = *device.context;
    TIDEMARK_TRY(write_runs(device, take));
    TIDEMARK_TRY(write_sites(context, take));
    TIDEMARK_TRY(write_steps(context, take));
    TIDEMARK_TRY(write_findings(device, take));
    TIDEMARK_TRY(write_breakdown(context, peak_and_end(context), take));
    return write_allocations(context, allocations, take);
}

}  // namespace tidemark
