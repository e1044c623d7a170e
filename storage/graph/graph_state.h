// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The graph at one time: its roots, and the shallow, reachable and retained bytes of its nodes.
//
// Bytes are block bytes of allocations that exist at that time, each counted once. Memory that a referrer outside the
// graph always retains (parameters, buffers, gradients, optimizer state) is not counted. The shallow bytes of a node
// are the bytes of the tensors that it saved and still retains. The retained bytes are the bytes that are freed if this
// node, and everything that only this node retains, is destroyed. Memory of several nodes counts for the node that
// dominates all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/graph/graph_index.h"

namespace tidemark {

class Categories;

/// One graph: all nodes that are reachable from a root.
struct RootSummary {
    NodeIndex root = no_node;
    int64_t nodes = 0;            ///< reachable from it
    int64_t reachable_bytes = 0;  ///< sum of the shallow bytes of these nodes
    int64_t retained_bytes = 0;   ///< bytes that are freed if this root is destroyed
    bool was_executed = false;    ///< a backward executed the root
};

/// The targets of a referrer.
struct ReferrerTargets {
    std::vector<NodeIndex> nodes;
    std::vector<AllocationRef> allocations;  ///< of the tensors themselves
};

/// Everything that a referrer retains through the graph, and the part that nothing else retains.
struct Reachable {
    int64_t nodes = 0, bytes = 0;
    int64_t freed_nodes = 0, freed_bytes = 0;  ///< freed if the referrer is removed
};

/// Built in O(nodes + edges + saved tensors), times the logarithm of the depth for nodes with several parents. Keeps
/// references to the index and the categories. Cycles exist only in corrupt files; they are cut at any edge. Immutable.
/// Thread: any.
class GraphState {
public:
    GraphState(const GraphIndex& index, const Categories& categories, int64_t time);

    const GraphIndex& index() const { return index_; }
    int64_t time() const { return time_; }
    bool is_alive(NodeIndex node) const { return shallow_[node] >= 0; }
    int64_t alive_nodes() const { return static_cast<int64_t>(parents_first_.size()); }
    int64_t reachable_bytes() const { return reachable_bytes_; }  ///< of all nodes together
    /// Returns whether memory counts: it is allocated, and nothing outside the graph retains it as well.
    bool is_graph_memory(AllocationRef allocation) const;
    /// Returns 0 for nodes that are not alive.
    int64_t shallow_bytes(NodeIndex node) const { return shallow_[node] < 0 ? 0 : shallow_[node]; }
    int64_t retained_bytes(NodeIndex node) const { return retained_[node]; }
    /// Returns the node whose destruction would free this one; no_node for a root, or if several roots retain it.
    NodeIndex dominator(NodeIndex node) const { return dominator_[node]; }

    /// Returns the alive nodes that no alive node refers to, most retained bytes first.
    const std::vector<NodeIndex>& roots() const { return roots_; }
    RootSummary summary(NodeIndex root) const;
    /// Returns all alive nodes, each after the nodes that refer to it.
    const std::vector<NodeIndex>& parents_first() const { return parents_first_; }
    /// Returns a shortest path of alive nodes from a root to `node`, including both; empty if the node is not alive. If
    /// no root reaches the node (in a corrupt file), the path starts at a node that no root reaches.
    std::vector<NodeIndex> path_to(NodeIndex node) const;
    /// Returns the first node of path_to(); the node itself if there is no path.
    NodeIndex root_of(NodeIndex node) const { return is_alive(node) ? nearest_root_[node] : node; }
    /// Returns the positions in SavedTensors at which alive nodes retain this memory.
    std::vector<uint32_t> retainers(AllocationRef allocation) const;

    /// Returns the nodes and bytes that are freed if this node is destroyed. Counts references as the program does; the
    /// bytes equal retained_bytes. Takes time in proportion to the result. Returns zeros for nodes that are not alive.
    Reachable freed_by(NodeIndex node) const;
    /// Returns what each of several referrers retains. Assumes that roots without a referrer in the list have another
    /// one. Takes O(nodes + edges + saved tensors) for each 63 referrers.
    std::vector<Reachable> reachable_from(std::span<const ReferrerTargets> referrers) const;

private:
    bool retains(uint32_t saved) const { return holds_saved(index_.state(index_.saver(saved), time_)); }
    bool is_allocated(AllocationRef allocation) const;
    int64_t size_of(AllocationRef allocation) const;
    /// Calls visit(AllocationRef, retaining nodes) for all memory that only alive nodes retain.
    template <class Visit>
    void for_each_reachable(Visit&& visit) const;
    void reach_batch(std::span<const ReferrerTargets> all, size_t from, std::span<Reachable> out) const;

    void find_alive();
    void sort_parents_first(std::vector<uint32_t> parents_left);
    void find_nearest_roots();
    void find_dominators();

    const GraphIndex& index_;
    const Categories& categories_;
    int64_t time_;
    int64_t reachable_bytes_ = 0;
    std::vector<EventNumber> events_;          ///< per device: the state at that time
    std::vector<int64_t> shallow_, retained_;  ///< shallow_: -1 for nodes that are not alive
    std::vector<NodeIndex> dominator_, roots_, parents_first_;
    std::vector<NodeIndex> nearest_root_;
    std::vector<NodeIndex> nearer_;  ///< the next node on a shortest path to a root
};

}  // namespace tidemark
