// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The pages of `tidemark graph`: all graphs, or one node, root or allocation, as text or JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "recorder/cli/graph_view.h"

namespace tidemark::cli {

/// Limits count rows of a list, 0: all. JSON is cut in the same way and says how many rows were left out.
std::string overview_text(const GraphView& view, size_t limit);
nlohmann::ordered_json overview_json(const GraphView& view, size_t limit);

/// What an alive node keeps alive.
std::string root_text(const GraphView& view, NodeIndex root, size_t limit);
nlohmann::ordered_json root_json(const GraphView& view, NodeIndex root, size_t limit);

std::string node_text(const GraphView& view, NodeIndex node, size_t limit);
nlohmann::ordered_json node_json(const GraphView& view, NodeIndex node);

std::string memory_text(const GraphView& view, AllocationRef memory, size_t limit);
nlohmann::ordered_json memory_json(const GraphView& view, AllocationRef memory);

/// "node 9 SumBackward0 (s01.py:31 main) → 12 more → node 4 MulBackward0"; empty for nodes that are not alive.
std::string path_text(const GraphView& view, NodeIndex node);

}  // namespace tidemark::cli
