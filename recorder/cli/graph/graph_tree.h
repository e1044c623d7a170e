// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Groups nodes of the graph by module and type, so that a few lines describe thousands of nodes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "recorder/cli/graph/graph_view.h"

namespace tidemark::cli {

/// A module with its contents, or, if `rows` is empty, nodes of one type in it.
struct TreeRow {
    std::string name;     ///< "GPT.transformer", "0 to 11" for modules with the same contents, "MulBackward0"
    int64_t modules = 1;  ///< the number of modules with the same contents
    std::vector<NodeIndex> nodes;
    int64_t reachable_bytes = 0;  ///< saved by the nodes, each allocation counted once
    std::vector<TreeRow> rows;    ///< most reachable bytes first
};

/// Groups the nodes. Merges a module with its inner module if it contains nothing else.
TreeRow graph_tree(const GraphView& view, std::span<const NodeIndex> nodes);

}  // namespace tidemark::cli
