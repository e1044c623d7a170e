// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The pages of `tidemark graph`: all graphs, or one node, root or allocation, as text or JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "recorder/cli/graph/graph_view.h"

namespace tidemark::cli {

/// `limit`: rows per list; 0: all. JSON has the number of omitted rows.
std::string overview_text(const GraphView& view, size_t limit);
nlohmann::ordered_json overview_json(const GraphView& view, size_t limit);

/// Describe the nodes that are reachable from a live node.
std::string root_text(const GraphView& view, NodeIndex root, size_t limit);
nlohmann::ordered_json root_json(const GraphView& view, NodeIndex root, size_t limit);

std::string node_text(const GraphView& view, NodeIndex node, size_t limit);
nlohmann::ordered_json node_json(const GraphView& view, NodeIndex node);

std::string memory_text(const GraphView& view, AllocationRef memory, size_t limit);
nlohmann::ordered_json memory_json(const GraphView& view, AllocationRef memory);

/// "node 9 SumBackward0 (s01.py:31 main) → 12 more → node 4 MulBackward0"; empty for nodes that are not alive.
std::string path_text(const GraphView& view, NodeIndex node);

}  // namespace tidemark::cli
