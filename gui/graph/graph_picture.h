// Everything a drawing of the graph at one moment is made from.
#pragma once

#include "gui/graph/graph_scene.h"
#include "gui/model/graph_source.h"
#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark::gui {

/// Immutable; thread: any.
struct GraphPicture {
    std::shared_ptr<const Graph> graph;              ///< what the rest refers to
    std::shared_ptr<const GraphState> time_point;    ///< of `graph`
    std::shared_ptr<const ReferrerIndex> referrers;  ///< of `graph`, at that moment
    std::shared_ptr<const GraphOutline> outline;
    std::shared_ptr<const GraphScene> scene;
    GraphRegion region;

    const GraphIndex& index() const { return graph->index; }
    /// Nodes in a box.
    std::span<const NodeIndex> nodes(const GraphBox& box) const {
        return box.is_node() ? std::span(&box.node, 1) : outline->nodes(outline->group(box.group));
    }
    /// Totals of a box, also where it is a single node.
    GroupTotals totals(const GraphBox& box) const;
    /// Allocations of the device at `device` in Trace::devices that a box's nodes hold as saved tensors, rising.
    std::vector<AllocationIndex> held_allocations(const GraphBox& box, uint32_t device) const;
};

/// Boxes, rising, no frames, that are or hold one of the nodes. In proportion to the nodes of the region.
std::vector<int> boxes_with(const GraphPicture& picture, const std::vector<NodeIndex>& nodes);

/// What of a drawing lights up for what is chosen: bits by box and link.
struct GraphMarks {
    enum Mark : uint8_t {
        selected = 1,  ///< is or holds the chosen node
        on_path = 2,   ///< lies between a root and what is chosen
        keeps = 4,     ///< saved the chosen allocation
        made = 8,      ///< made the chosen allocation
    };
    std::vector<uint8_t> boxes, links;
    bool any = false;
};
GraphMarks mark_choice(const GraphPicture& picture, std::optional<NodeIndex> node, AllocationRef allocation);

}  // namespace tidemark::gui
