// What everybody who asks about the graph wants at hand, made once after reading: who points to whom, who made and who
// saved which memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "storage/format/graph_tables.h"

namespace tidemark {

/// A node in the course of its life. Only waiting and kept ones hold what they saved.
enum class NodeState : uint8_t {
    unborn,
    waiting,   ///< alive, no backward has run it
    kept,      ///< alive, a backward has run it and left what it saved (retain_graph)
    released,  ///< alive, but what it saved was released: a second backward through it raises if it had saved any
    dead,
};

/// Immutable once made; keeps the trace and the tables alive. Thread: any.
class GraphIndex {
public:
    GraphIndex(std::shared_ptr<const Trace> trace, std::shared_ptr<const GraphTables> tables);

    const Trace& trace() const { return *trace_; }
    const GraphTables& tables() const { return *tables_; }

    NodeState state(NodeIndex node, int64_t time) const;
    /// Node with this id in the file, or no_node.
    NodeIndex find(int64_t id) const;

    std::span<const NodeIndex> children(NodeIndex node) const;  ///< those its gradients go to; in slot order
    std::span<const NodeIndex> parents(NodeIndex node) const;   ///< those that keep it alive

    /// The node whose op first gave this memory as its output, or no_node.
    NodeIndex maker(AllocationRef allocation) const;
    /// Positions in SavedTensors of those that lie in this memory.
    std::span<const uint32_t> saved_in(AllocationRef allocation) const;
    /// The node a saved tensor (position in SavedTensors) belongs to.
    NodeIndex saver(uint32_t saved) const;

    /// Position in Trace::steps of the step a node was made in; -1: none.
    int32_t step_of(NodeIndex node) const;

private:
    std::shared_ptr<const Trace> trace_;
    std::shared_ptr<const GraphTables> tables_;
    std::vector<uint32_t> first_parent_;
    std::vector<NodeIndex> parent_;
    std::vector<NodeIndex> saver_;
    std::vector<std::vector<NodeIndex>> maker_;                         ///< per device, per allocation
    std::vector<std::vector<uint32_t>> first_saved_in_, saved_in_;      ///< per device
};

}  // namespace tidemark
