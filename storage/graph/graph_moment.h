// The graph as it is alive at one time: its roots, what each node keeps, what would be freed if one went.
//
// Bytes are block bytes of allocations that are allocated at that time, each counted once. A node's own bytes: what it
// saved and still holds. Its dominated bytes: what would be freed if this node, and with it all that only it keeps
// alive, went away. Memory that something outside the graph holds as well (parameters, buffers, gradients, optimizer
// state) is counted in own bytes and never in dominated bytes; so is memory that more than one node keeps, in the node
// that dominates them all.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/graph/graph_index.h"

namespace tidemark {

class Categories;

/// One graph: everything a root keeps alive.
struct RootSummary {
    NodeIndex root = no_node;
    int64_t nodes = 0;          ///< reachable from it
    int64_t kept_bytes = 0;     ///< own bytes of all of them together
    int64_t dominated_bytes = 0;  ///< what goes when this root goes
    bool was_run = false;         ///< a backward has run the root
};

/// Made in O(nodes + edges + saved tensors); keeps a reference to the index. Immutable, thread: any.
class GraphMoment {
public:
    GraphMoment(const GraphIndex& index, const Categories& categories, int64_t time);

    int64_t time() const { return time_; }
    bool is_alive(NodeIndex node) const { return own_[node] >= 0; }
    int64_t alive_nodes() const { return alive_; }
    int64_t kept_bytes() const { return kept_; }  ///< by all nodes together
    /// 0 for nodes that are not alive.
    int64_t own_bytes(NodeIndex node) const { return own_[node] < 0 ? 0 : own_[node]; }
    int64_t dominated_bytes(NodeIndex node) const { return dominated_[node]; }
    /// The node whose going would free this one; no_node: a root, or kept by several roots.
    NodeIndex dominator(NodeIndex node) const { return dominator_[node]; }

    /// Alive nodes no alive node points to, most dominated bytes first.
    const std::vector<NodeIndex>& roots() const { return roots_; }
    RootSummary summary(NodeIndex root) const;
    /// A shortest path of alive nodes from a root down to `node`, both included; empty when it is not alive.
    std::vector<NodeIndex> path_to(NodeIndex node) const;
    /// Alive nodes that hold this memory as a saved tensor; positions in SavedTensors.
    std::vector<uint32_t> keepers(AllocationRef allocation) const;

private:
    const GraphIndex& index_;
    int64_t time_;
    int64_t alive_ = 0, kept_ = 0;
    std::vector<int64_t> own_, dominated_;
    std::vector<NodeIndex> dominator_, roots_;
};

}  // namespace tidemark
