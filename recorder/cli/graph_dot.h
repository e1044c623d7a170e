// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The graph in the language of Graphviz' `dot`, grouped into at most about 300 shapes.
#pragma once

#include <span>
#include <string>

#include "recorder/cli/graph_view.h"

namespace tidemark::cli {

/// All alive nodes, grouped by module if they are many.
std::string whole_graph_dot(const GraphView& view);
/// The nodes that an alive node keeps alive.
std::string root_dot(const GraphView& view, NodeIndex root);
/// An alive node, the path to it from a root, its neighbors, and the memory it retains.
std::string node_dot(const GraphView& view, NodeIndex node);
/// An allocation, the nodes that retain it, and the paths to them from roots.
std::string memory_dot(const GraphView& view, AllocationRef memory);

}  // namespace tidemark::cli
