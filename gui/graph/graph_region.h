// Which part of the graph somebody looks at.
#pragma once

#include <vector>

#include "storage/graph/graph_state.h"

namespace tidemark::gui {

struct GraphRegion {
    enum class Kind : uint8_t {
        alive,           ///< all nodes alive at the moment
        reachable_from,  ///< what `node` keeps alive, itself included
        around,          ///< nodes at most `reach` edges from `node`
        made_in,         ///< nodes made in step `step` and still alive
    };
    Kind kind = Kind::alive;
    NodeIndex node = no_node;
    int32_t step = -1;  ///< position in Trace::steps
    int reach = 3;
    bool operator==(const GraphRegion&) const = default;
};

/// Its alive nodes, rising. Thread: any.
std::vector<NodeIndex> nodes_of(const GraphRegion& region, const GraphIndex& index, const GraphState& time_point);

}  // namespace tidemark::gui
