// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The retention path of a node or an allocation: referrer of the root, path through the graph, block.
#pragma once

#include "gui/graph/graph_picture.h"
#include "gui/graph/graph_roots.h"
#include "gui/widgets/report.h"

namespace tidemark::gui {

/// Links: "node:N", "allocation:N" (of the device at position `device`), "line:LINE:PATH".
Report why_node_is_alive(const GraphPicture& picture, NodeIndex node, uint32_t device);
/// For roots that are alike: the path from one of them to its node with the largest shallow size.
Report why_most_is_alive(const GraphPicture& picture, const RootGroup& group, uint32_t device);
Report why_allocation_is_alive(const GraphPicture& picture, AllocationRef allocation);

}  // namespace tidemark::gui
