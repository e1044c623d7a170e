// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The tables that `tidemark export` writes: runs, sites, steps, findings, breakdown, allocations. docs/FLEET.md
// describes their columns. The numbers are those of the other commands.
#pragma once

#include "recorder/cli/explained.h"
#include "recorder/cli/table_rows.h"

namespace tidemark::cli {

enum class ExportedAllocations : uint8_t {
    alive,  ///< active at the peak or at the end
    all,
};

/// Passes on the rows of all tables of one device. Returns the error of `take`.
Status export_tables(const Explained& device, ExportedAllocations allocations, const TakeRows& take);

}  // namespace tidemark::cli
