// The graph as it is alive at one time: its roots, what each node keeps, what would be freed if one went.
//
// Bytes are block bytes of allocations that are allocated at that time, each counted once. Memory that something
// outside the graph holds anyway (parameters, buffers, gradients, optimizer state) is not counted. A node's own bytes:
// what it saved and still holds. Its dominated bytes: what would be freed if this node, and with it all that only it
// keeps alive, went away; memory that more than one node keeps goes with the node that dominates them all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/graph/graph_index.h"

namespace tidemark {

class Categories;

/// One graph: everything a root keeps alive.
struct RootSummary {
    NodeIndex root = no_node;
    int64_t nodes = 0;            ///< reachable from it
    int64_t reachable_bytes = 0;       ///< own bytes of all of them together
    int64_t retained_bytes = 0;  ///< what goes when this root goes
    bool was_run = false;         ///< a backward has run the root
};

/// What somebody has hold of.
struct Held {
    std::vector<NodeIndex> nodes;
    std::vector<AllocationRef> allocations;  ///< of the tensors themselves
};

/// What somebody keeps alive through the graph, and what of it nobody else does.
struct Reachable {
    int64_t nodes = 0, bytes = 0;
    int64_t freed_nodes = 0, freed_bytes = 0;  ///< would go if they let go
};

/// Made in O(nodes + edges + saved tensors), times the logarithm of the depth for nodes with several parents; keeps
/// references to the index and the categories. A graph with cycles, which only a damaged file holds, is cut open
/// somewhere. Immutable, thread: any.
class GraphState {
public:
    GraphState(const GraphIndex& index, const Categories& categories, int64_t time);

    const GraphIndex& index() const { return index_; }
    int64_t time() const { return time_; }
    bool is_alive(NodeIndex node) const { return shallow_[node] >= 0; }
    int64_t alive_nodes() const { return static_cast<int64_t>(parents_first_.size()); }
    int64_t reachable_bytes() const { return kept_; }  ///< by all nodes together
    /// Allocated, and nothing outside the graph holds it as well: memory that counts.
    bool is_the_graphs(AllocationRef allocation) const;
    /// 0 for nodes that are not alive.
    int64_t shallow_bytes(NodeIndex node) const { return shallow_[node] < 0 ? 0 : shallow_[node]; }
    int64_t retained_bytes(NodeIndex node) const { return retained_[node]; }
    /// The node whose going would free this one; no_node: a root, or kept by several roots.
    NodeIndex dominator(NodeIndex node) const { return dominator_[node]; }

    /// Alive nodes no alive node points to, most dominated bytes first.
    const std::vector<NodeIndex>& roots() const { return roots_; }
    RootSummary summary(NodeIndex root) const;
    /// All alive nodes, each after those that point to it.
    const std::vector<NodeIndex>& parents_first() const { return parents_first_; }
    /// A shortest path of alive nodes from a root down to `node`, both included; empty when it is not alive. A node
    /// that no root leads to (in a damaged file) begins its own.
    std::vector<NodeIndex> path_to(NodeIndex node) const;
    /// Alive nodes that hold this memory as a saved tensor; positions in SavedTensors.
    std::vector<uint32_t> retainers(AllocationRef allocation) const;

    /// What goes if this node goes, found by counting references as the program would: the same bytes as dominated
    /// ones. In proportion to what goes. Nothing of it for nodes that are not alive.
    Reachable freed_by(NodeIndex node) const;
    /// What each of several holders keeps. Roots that none of them holds are held by somebody else. In
    /// O(nodes + edges + saved tensors) for each 63 of them.
    std::vector<Reachable> reachable_from(std::span<const Held> referrers) const;

private:
    bool holds(uint32_t saved) const { return holds_saved(index_.state(index_.saver(saved), time_)); }
    bool is_allocated(AllocationRef allocation) const;
    int64_t size_of(AllocationRef allocation) const;
    /// Calls visit(AllocationRef, keeping nodes) for all memory that only alive nodes keep.
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
    std::vector<EventNumber> events_;       ///< per device: the state at that time
    std::vector<int64_t> shallow_, retained_;  ///< own_: -1 for nodes that are not alive
    std::vector<NodeIndex> dominator_, roots_, parents_first_;
    std::vector<NodeIndex> nearer_;  ///< the next node on a shortest way to a root
};

}  // namespace tidemark
