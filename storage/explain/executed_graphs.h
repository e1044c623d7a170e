// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Graphs of which a backward pass executed a part.
#pragma once

#include <vector>

#include "storage/graph/graph_index.h"

namespace tidemark {

/// Returns, for each node, whether its graph leads to a node that a backward pass executed, other than that of a leaf.
/// The graph of a derivative does, which needs gradients even if nothing backpropagates the result. Visits the graph
/// once.
std::vector<bool> leads_to_executed(const GraphIndex& graph);

}  // namespace tidemark
