// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Loading the graph of an open trace from its file.
#pragma once

#include <memory>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/graph_tables.h"

namespace tidemark {

/// The graph tables of the file `trace` came from; empty where nothing of them was recorded. Hostile until proven
/// fine, as open_trace: ids that point nowhere mean nothing (none, 0). Of a trace that is being written: what it holds
/// now, without rows newer than `trace` itself knows of. Errors: as open_trace. Thread: any.
Result<std::shared_ptr<const GraphTables>> read_graph(const Trace& trace, Progress& progress);

}  // namespace tidemark
