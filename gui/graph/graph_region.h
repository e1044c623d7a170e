// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The part of the graph that is drawn.
#pragma once

#include <vector>

#include "storage/graph/graph_state.h"

namespace tidemark::gui {

struct GraphRegion {
    enum class Kind : uint8_t {
        alive,           ///< all nodes alive at the cursor
        reachable_from,  ///< what is reachable from `node`, itself included
        around,          ///< nodes at most `reach` edges from `node`
        created_in,      ///< nodes created in step `step` and still alive
    };
    Kind kind = Kind::alive;
    NodeIndex node = no_node;
    int32_t step = -1;  ///< position in Trace::steps
    int reach = 3;
    bool operator==(const GraphRegion&) const = default;
};

/// Returns the alive nodes of a region in ascending order. Thread: any.
std::vector<NodeIndex> nodes_of(const GraphRegion& region, const GraphIndex& index, const GraphState& time_point);

}  // namespace tidemark::gui
