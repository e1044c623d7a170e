// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Indexes of the graph, built once after reading: edges in both directions, and the nodes that produced or saved each
// allocation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "storage/graph/lists.h"
#include "storage/trace/graph_tables.h"

namespace tidemark {

/// The state of a node. Only nodes of the states `never_executed` and `executed` retain saved tensors.
enum class NodeState : uint8_t {
    not_created,
    never_executed,  ///< alive, no backward has executed it
    executed,        ///< alive, a backward has executed it and retained its saved tensors (retain_graph)
    released,        ///< alive, its saved tensors are released: another backward raises an error if it had saved any
    destroyed,
};
constexpr bool is_alive(NodeState state) { return state != NodeState::not_created && state != NodeState::destroyed; }
constexpr bool holds_saved(NodeState state) {
    return state == NodeState::never_executed || state == NodeState::executed;
}

/// An allocation as a key of maps.
constexpr uint64_t memory_key(AllocationRef a) { return uint64_t{a.device} << 32 | a.index; }
constexpr AllocationRef memory_of_key(uint64_t key) {
    return {static_cast<uint32_t>(key >> 32), static_cast<AllocationIndex>(key & UINT32_MAX)};
}

/// Immutable after construction; keeps the trace and the tables alive. Thread: any.
class GraphIndex {
public:
    GraphIndex(std::shared_ptr<const Trace> trace, std::shared_ptr<const GraphTables> tables);

    const Trace& trace() const { return *trace_; }
    const GraphTables& tables() const { return *tables_; }
    const std::string& type(NodeIndex node) const { return tables_->texts[tables_->nodes.type[node]]; }

    NodeState state(NodeIndex node, int64_t time) const;
    /// Returns the node with this id in the file, or no_node.
    NodeIndex find(int64_t id) const;

    std::span<const NodeIndex> children(NodeIndex node) const;  ///< nodes that receive its gradients, in slot order
    std::span<const NodeIndex> parents(NodeIndex node) const;   ///< nodes that retain it

    /// Returns the node whose op first returned this memory as its output, or no_node. No node produces the memory of
    /// leaves (which have an AccumulateGrad), even if nodes return views of it later.
    NodeIndex maker(AllocationRef allocation) const;
    /// Returns the positions in SavedTensors of the tensors in this memory.
    std::span<const uint32_t> saved_in(AllocationRef allocation) const;
    /// Returns the index of an allocation in a column of the allocations of all devices.
    size_t place(AllocationRef allocation) const { return first_place_[allocation.device] + allocation.index; }
    size_t places() const { return first_place_.back(); }
    /// Returns the node of a saved tensor (position in SavedTensors).
    NodeIndex saver(uint32_t saved) const { return saver_[saved]; }
    /// Returns whether the node accumulates the gradient of a leaf.
    bool is_leaf(NodeIndex node) const { return is_leaf_type_[tables_->nodes.type[node]]; }

    /// Returns the position in Trace::steps of the step that created a node; -1: none.
    int32_t step_of(NodeIndex node) const;

private:
    void find_makers();
    NodeIndex oldest_with_same_output(NodeIndex node) const;

    std::shared_ptr<const Trace> trace_;
    std::shared_ptr<const GraphTables> tables_;
    std::vector<size_t> first_place_{0};  ///< per device, and the end
    std::vector<bool> is_leaf_type_;      ///< by text
    Lists parents_, saved_in_;
    std::vector<NodeIndex> saver_, maker_;
};

}  // namespace tidemark
