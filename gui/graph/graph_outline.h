// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// A part of the graph gathered into groups within groups, so that a picture of a million nodes begins with a few boxes:
// graphs that look alike, modules by their path, repeated modules, repeated chains.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "gui/graph/graph_region.h"
#include "storage/base/progress.h"
#include "storage/graph/graph_index.h"

namespace tidemark::gui {

using GroupIndex = uint32_t;
constexpr GroupIndex no_group = UINT32_MAX;

enum class GroupKind : uint8_t {
    whole,       ///< everything in the region
    graph,       ///< what one of several roots retains alone
    graphs,      ///< `repeats` graphs whose roots have one type and line
    module,      ///< a module's nodes and those of its parts
    repeat,      ///< `repeats` modules in a row with the same inside
    run,         ///< `repeats` chains in a row of the same types and lines
    parameters,  ///< AccumulateGrad nodes that several others use
    part,        ///< some of many members, to limit the number of boxes
};

/// States and sizes of a group's nodes at one time. Memory that several nodes saved counts once.
struct GroupTotals {
    int64_t shallow_bytes = 0;   ///< what they saved and have not released
    int64_t retained_bytes = 0;  ///< what would be freed with them
    uint32_t never_executed = 0, executed = 0,
             released = 0;                         ///< nodes by state; released: only nodes that had saved tensors
    uint32_t saved_alive = 0, saved_released = 0;  ///< saved tensors
    int32_t first_step = -1, last_step = -1;       ///< of those whose step is known
};

/// Returns the totals of a single node.
GroupTotals totals_of(const GraphIndex& index, const GraphState& time_point, NodeIndex node);

struct OutlineGroup {
    GroupKind kind = GroupKind::whole;
    uint64_t key = 0;  ///< the same group has the same key at other times
    GroupIndex parent = no_group;
    GroupIndex first_group = 0;
    uint32_t group_count = 0;
    uint32_t first_node = 0, node_count = 0;  ///< all its nodes, as a range of GraphOutline::order()
    uint32_t direct_nodes = 0;                ///< those in none of its groups, which come first
    uint32_t repeats = 1;
    NodeIndex representative =
        no_node;       ///< represents the group: not reachable from others in it, largest retained size
    std::string name;  ///< "GPT.transformer", "h.0 to h.11"; may be empty
    GroupTotals totals;
};

/// Immutable and self-contained. Thread: any.
class GraphOutline {
public:
    /// Returns null if canceled.
    static std::shared_ptr<const GraphOutline> make(const GraphIndex& index, const GraphState& time_point,
                                                    const GraphRegion& region, const Progress& progress);

    const std::vector<OutlineGroup>& groups() const { return groups_; }  ///< [0] is the whole
    const OutlineGroup& group(GroupIndex g) const { return groups_[g]; }
    const std::vector<NodeIndex>& order() const { return order_; }  ///< every node of the region once
    bool empty() const { return order_.empty(); }
    bool contains(NodeIndex node) const { return node < position_.size() && position_[node] != UINT32_MAX; }
    /// Returns the place of a node of the region in order().
    uint32_t position(NodeIndex node) const { return position_[node]; }
    /// Returns the smallest group that contains the node, or no_group.
    GroupIndex group_of(NodeIndex node) const;
    std::span<const NodeIndex> nodes(const OutlineGroup& group) const {
        return std::span(order_).subspan(group.first_node, group.node_count);
    }
    GroupIndex find(uint64_t key) const;  ///< or no_group
    /// Returns the groups to open at first: as many boxes as stay readable; repeated groups stay closed.
    std::vector<uint64_t> opened_at_first() const;

private:
    friend class OutlineBuilder;
    std::vector<OutlineGroup> groups_;
    std::vector<NodeIndex> order_;
    std::vector<uint32_t> position_;  ///< of each node of the graph; UINT32_MAX: not of the region
    std::unordered_map<uint64_t, GroupIndex> by_key_;
};

constexpr int most_boxes_at_first = 60;
constexpr int most_boxes = 300;
constexpr uint32_t most_children = 40;  ///< of a group; beyond, they are gathered into parts

/// Returns the number of boxes that a scene of the outline would have.
uint32_t count_boxes(const GraphOutline& outline, const std::vector<uint64_t>& opened);
/// Returns `opened` and `key`; above most_boxes, without the groups opened first.
std::vector<uint64_t> with_opened(const GraphOutline& outline, std::vector<uint64_t> opened, uint64_t key);

}  // namespace tidemark::gui
