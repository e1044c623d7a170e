// The graph as text that Graphviz' `dot` draws, gathered into at most about 300 shapes.
#pragma once

#include <span>
#include <string>

#include "recorder/cli/graph_view.h"

namespace tidemark::cli {

/// All nodes that are alive, module by module where they are many.
std::string whole_graph_dot(const GraphView& view);
/// What an alive node keeps alive.
std::string root_dot(const GraphView& view, NodeIndex root);
/// An alive node, the way to it from a root, its neighbours, and the memory it keeps.
std::string node_dot(const GraphView& view, NodeIndex node);
/// An allocation, the nodes that keep it, and the ways to them from roots.
std::string memory_dot(const GraphView& view, AllocationRef memory);

}  // namespace tidemark::cli
