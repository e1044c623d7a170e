// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The graph in the DOT language of Graphviz, grouped into at most about 300 shapes.
#pragma once

#include <span>
#include <string>

#include "recorder/cli/graph/graph_view.h"

namespace tidemark::cli {

/// Returns all live nodes, grouped by module if there are more than 300.
std::string whole_graph_dot(const GraphView& view);
/// Returns the nodes that are reachable from a live node.
std::string root_dot(const GraphView& view, NodeIndex root);
/// Returns a live node, the path to it from a root, its neighbors, and the memory it retains.
std::string node_dot(const GraphView& view, NodeIndex node);
/// Returns an allocation, the nodes that retain it, and the paths to them from roots.
std::string memory_dot(const GraphView& view, AllocationRef memory);

}  // namespace tidemark::cli
