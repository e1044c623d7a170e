// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The graph of a range of a trace.
#pragma once

#include <functional>

#include "storage/trace/graph_tables.h"

namespace tidemark {

/// Returns the nodes and data alive between `start` and `end` (ns), with times counted from `start`. `moved` maps an
/// allocation to its position in the range's trace; none if it is not in the range. Stacks and origins keep their ids.
GraphTables excerpt_graph(const GraphTables& graph, int64_t start, int64_t end,
                          const std::function<AllocationRef(AllocationRef)>& moved);

}  // namespace tidemark
