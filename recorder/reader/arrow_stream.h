// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The rows of a table as a stream of Arrow's arrays. Nothing is copied.
#pragma once

#include <memory>
#include <vector>

#include "recorder/reader/arrow_abi.h"
#include "storage/tables/table.h"

namespace tidemark::reader {

/// The rows of a table. Immutable, except while they are collected.
struct Rows {
    explicit Rows(const TableInfo& info) : table(info) {}

    const TableInfo& table;
    std::vector<TableBatch> batches;
};

/// Fills `out`, which the receiver releases, with a stream from the first row. Streams and arrays keep the rows alive.
void export_stream(std::shared_ptr<const Rows> rows, ArrowArrayStream& out);

}  // namespace tidemark::reader
