// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The data of a drawing of the graph at one time.
#pragma once

#include "gui/graph/graph_scene.h"
#include "gui/model/graph_source.h"
#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark::gui {

/// Immutable; thread: any.
struct GraphPicture {
    std::shared_ptr<const Graph> graph;              ///< the other members refer to it
    std::shared_ptr<const GraphState> time_point;    ///< of `graph`
    std::shared_ptr<const ReferrerIndex> referrers;  ///< of `graph`, at that time
    std::shared_ptr<const GraphOutline> outline;
    std::shared_ptr<const GraphScene> scene;
    GraphRegion region;

    const GraphIndex& index() const { return graph->index; }
    const RootReferrer& referrer(const GraphBox& box) const {
        return scene->referrers[static_cast<size_t>(box.referrer)];
    }
    /// Returns the nodes in a box; of a referrer, its roots.
    std::span<const NodeIndex> nodes(const GraphBox& box) const;
    /// Returns the totals of a box, also if it is a single node; of a referrer, only the retained size.
    GroupTotals totals(const GraphBox& box) const;
    /// Returns the allocations of device `device` in Trace::devices that a box's nodes saved, in ascending order.
    std::vector<AllocationIndex> retained_allocations(const GraphBox& box, uint32_t device) const;
};

/// Returns the boxes, without frames, that contain one of the nodes, in ascending order. O(nodes of the region).
std::vector<int> boxes_with(const GraphPicture& picture, const std::vector<NodeIndex>& nodes);

/// The highlights of a drawing for the selection: bits by box and link.
struct GraphMarks {
    enum Mark : uint8_t {
        selected = 1,   ///< is or contains the selected node
        on_path = 2,    ///< lies between a root and the selection
        retains = 4,    ///< saved the selected allocation
        allocates = 8,  ///< allocated the selected allocation
    };
    std::vector<uint8_t> boxes, links;
    AllocationRef allocation;  ///< the selected one
    bool any = false;
};
GraphMarks mark_selection(const GraphPicture& picture, std::optional<NodeIndex> node, AllocationRef allocation);

}  // namespace tidemark::gui
