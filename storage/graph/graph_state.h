// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The graph at one time: its roots, and the shallow, reachable and retained bytes of its nodes.
//
// Bytes are block bytes of allocations that are allocated at that time, each counted once. Memory that something
// outside the graph retains anyway (parameters, buffers, gradients, optimizer state) is not counted. The shallow bytes
// of a node are what it saved and still holds. The retained bytes are what would be freed if this node, and everything
// that only it keeps alive, were destroyed; memory of several nodes counts for the node that dominates them all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/graph/graph_index.h"

namespace tidemark {

class Categories;

/// One graph: everything that a root reaches.
struct RootSummary {
    NodeIndex root = no_node;
    int64_t nodes = 0;            ///< reachable from it
    int64_t reachable_bytes = 0;  ///< shallow bytes of all of them together
    int64_t retained_bytes = 0;   ///< freed if this root is destroyed
    bool was_run = false;         ///< a backward executed the root
};

/// What a referrer refers to.
struct Held {
    std::vector<NodeIndex> nodes;
    std::vector<AllocationRef> allocations;  ///< of the tensors themselves
};

/// What a referrer keeps alive through the graph, and what of it nothing else does.
struct Reachable {
    int64_t nodes = 0, bytes = 0;
    int64_t freed_nodes = 0, freed_bytes = 0;  ///< freed if the referrer is gone
};

/// Made in O(nodes + edges + saved tensors), times the logarithm of the depth for nodes with several parents; keeps
/// references to the index and the categories. Cycles, which only a damaged file
/// holds, are cut at any edge. Immutable, thread: any.
class GraphState {
public:
    GraphState(const GraphIndex& index, const Categories& categories, int64_t time);

    const GraphIndex& index() const { return index_; }
    int64_t time() const { return time_; }
    bool is_alive(NodeIndex node) const { return shallow_[node] >= 0; }
    int64_t alive_nodes() const { return static_cast<int64_t>(parents_first_.size()); }
    int64_t reachable_bytes() const { return kept_; }  ///< of all nodes together
    /// Whether memory counts: it is allocated, and nothing outside the graph retains it as well.
    bool is_the_graphs(AllocationRef allocation) const;
    /// 0 for nodes that are not alive.
    int64_t shallow_bytes(NodeIndex node) const { return shallow_[node] < 0 ? 0 : shallow_[node]; }
    int64_t retained_bytes(NodeIndex node) const { return retained_[node]; }
    /// Returns the node whose destruction would free this one; no_node: a root, or retained by several roots.
    NodeIndex dominator(NodeIndex node) const { return dominator_[node]; }

    /// Alive nodes that no alive node points to, most retained bytes first.
    const std::vector<NodeIndex>& roots() const { return roots_; }
    RootSummary summary(NodeIndex root) const;
    /// All alive nodes, each after those that point to it.
    const std::vector<NodeIndex>& parents_first() const { return parents_first_; }
    /// Returns a shortest path of alive nodes from a root down to `node`, both included; empty when it is not alive. A
    /// node that no root leads to (in a damaged file) begins its own.
    std::vector<NodeIndex> path_to(NodeIndex node) const;
    /// Returns the alive nodes that hold this memory as a saved tensor; positions in SavedTensors.
    std::vector<uint32_t> retainers(AllocationRef allocation) const;

    /// Returns what is freed if this node is destroyed, found by counting references as the program would: the same
    /// bytes as retained_bytes. Takes time in proportion to the result. Zeros for nodes that are not alive.
    Reachable freed_by(NodeIndex node) const;
    /// Returns what each of several referrers keeps alive. Roots that none of them refers to are kept alive by
    /// something else. In O(nodes + edges + saved tensors) for each 63 of them.
    std::vector<Reachable> reachable_from(std::span<const Held> referrers) const;

private:
    bool holds(uint32_t saved) const { return holds_saved(index_.state(index_.saver(saved), time_)); }
    bool is_allocated(AllocationRef allocation) const;
    int64_t size_of(AllocationRef allocation) const;
    /// Calls visit(AllocationRef, retaining nodes) for all memory that only alive nodes retain.
    template <class Visit>
    void for_each_reachable(Visit&& visit) const;
    void reach_batch(std::span<const Held> all, size_t from, std::span<Reachable> out) const;

    void find_alive();
    void sort_parents_first(std::vector<uint32_t> parents_left);
    void find_nearest_roots();
    void find_dominators();

    const GraphIndex& index_;
    const Categories& categories_;
    int64_t time_;
    int64_t kept_ = 0;
    std::vector<EventNumber> events_;          ///< per device: the state at that time
    std::vector<int64_t> shallow_, retained_;  ///< shallow_: -1 for nodes that are not alive
    std::vector<NodeIndex> dominator_, roots_, parents_first_;
    std::vector<NodeIndex> nearer_;  ///< the next node on a shortest way to a root
};

}  // namespace tidemark
