// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The graph of a range of a trace.
#pragma once

#include <functional>

#include "storage/trace/graph_tables.h"

namespace tidemark {

/// What was alive from `start` to `end` (ns), with times from `start` on. `moved` says where an allocation is in the
/// range's trace, none: not in it. Stacks and origins keep their ids.
GraphTables excerpt_graph(const GraphTables& graph, int64_t start, int64_t end,
                          const std::function<AllocationRef(AllocationRef)>& moved);

}  // namespace tidemark
