// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Opens the graph of a trace.
#pragma once

#include <memory>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/graph/graph.h"

namespace tidemark {

/// Reads and indexes the graph of a trace; its tables are empty if none was recorded. Errors: as read_graph(). Thread:
/// any.
Result<std::unique_ptr<const Graph>> open_graph(std::shared_ptr<const Trace> trace, Progress& progress);

}  // namespace tidemark
