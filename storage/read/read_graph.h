// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Loads the graph of an open trace from its file.
#pragma once

#include <memory>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/graph_tables.h"

namespace tidemark {

/// Reads the graph tables from the file of `trace`; empty if none were recorded. Does not trust the file, like
/// open_trace: ids without a row become "none" or 0. If the trace is being written, returns the current graph without
/// rows newer than `trace`. Errors: as open_trace. Thread: any.
Result<std::shared_ptr<const GraphTables>> read_graph(const Trace& trace, Progress& progress);

}  // namespace tidemark
