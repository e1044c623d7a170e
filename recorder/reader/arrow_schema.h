// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The schema of a table for Arrow's consumers.
#pragma once

#include "recorder/reader/arrow_abi.h"
#include "storage/tables/table.h"

namespace tidemark::reader {

/// Fills `out`, which the receiver releases.
void export_schema(const TableInfo& table, ArrowSchema& out);

}  // namespace tidemark::reader
