// Nodes of the graph gathered by module and type, so that a person can read thousands of them in a few lines.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "recorder/cli/graph_view.h"

namespace tidemark::cli {

/// A module with what is in it, or, where `rows` is empty, nodes of one type in it.
struct TreeRow {
    std::string name;     ///< "GPT.transformer", "0 to 11": of modules in a row that look the same, "MulBackward0"
    int64_t modules = 1;  ///< how many modules in a row it stands for
    std::vector<NodeIndex> nodes;
    int64_t reachable_bytes = 0;     ///< by them, each allocation once
    std::vector<TreeRow> rows;  ///< most kept bytes first
};

/// Modules with nothing but one module in them are put together with it.
TreeRow graph_tree(const GraphView& view, std::span<const NodeIndex> nodes);

}  // namespace tidemark::cli
