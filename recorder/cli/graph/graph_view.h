// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The autograd graph of a trace at a point in time, with texts and JSON for its nodes, memory and referrers.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/cli/time_point_options.h"
#include "storage/graph/graph.h"
#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark::cli {

/// Opens the graph of a trace; nullptr if none was recorded. Errors: those of open_graph().
Result<std::unique_ptr<const Graph>> read_whole_graph(std::shared_ptr<const Trace> trace, Progress& progress);
/// Returns the error (input) for a trace without a graph, with the way to record one.
Error no_graph_error(const Trace& trace);

/// The live graph at one point in time. Immutable.
class GraphView {
public:
    /// Opens the trace. Errors: those of open_time_points() and no_graph_error().
    static Result<std::unique_ptr<const GraphView>> open(const TimePointOptions& options, const Words& words,
                                                         Progress& progress);
    GraphView(std::unique_ptr<const Graph> graph, const DeviceHistory& device, EventNumber event, int64_t time,
              const Words& words);
    GraphView(const GraphView&) = delete;
    GraphView& operator=(const GraphView&) = delete;

    const Trace& trace() const { return graph_->trace(); }
    const GraphTables& tables() const { return graph_->tables(); }
    const GraphNodes& nodes() const { return tables().nodes; }
    const GraphIndex& index() const { return graph_->index; }
    const Categories& categories() const { return graph_->categories; }
    const GraphState& graph_state() const { return graph_state_; }
    const Words& words() const { return words_; }
    const ReferrerIndex& referrers() const { return referrers_; }
    int64_t time() const { return graph_state_.time(); }
    NodeState state(NodeIndex node) const { return index().state(node, time()); }

    /// "12.345678 s, event 1,234 of 607,632 of device 0"
    std::string when() const;
    nlohmann::ordered_json when_json() const;

    const DeviceHistory& device_of(AllocationRef memory) const { return trace().devices[memory.device]; }
    int64_t allocation_id(AllocationRef memory) const { return device_of(memory).allocation_id(memory.index); }
    int64_t block_bytes(AllocationRef memory) const;
    bool is_allocated(AllocationRef memory) const;
    /// Returns whether a saved tensor (position in SavedTensors) still retains memory.
    bool retains(uint32_t saved) const;
    /// Returns the bytes that these nodes saved, each allocation counted once.
    int64_t reachable_bytes(std::span<const NodeIndex> nodes) const;
    /// Returns positions in SavedTensors.
    std::vector<uint32_t> saved_by(NodeIndex node) const;
    /// Returns the live nodes that are reachable from a node; the first one is the node itself.
    std::vector<NodeIndex> reachable_from(NodeIndex node) const;

    /// "node 17 MulBackward0 (train.py:42 loss_of)"
    std::string name(NodeIndex node) const;
    /// Returns the type without the id: "MulBackward0", "AccumulateGrad of h.0.weight".
    std::string type_text(NodeIndex node) const;
    /// "train.py:42 loss_of", or "no Python frame".
    std::string line_text(StackId stack) const;
    const std::string& module(NodeIndex node) const { return origin(node).module; }
    const Origin& origin(NodeIndex node) const { return trace().origins[nodes().origin[node]]; }
    /// "step 3"; "" if steps are unknown.
    std::string step_text(NodeIndex node) const;
    /// "allocation 17, 1.00 MiB, saved for backward"
    std::string name(AllocationRef memory) const;
    /// "gradient of `fc.weight`"
    std::string category_text(AllocationRef memory, Category category) const;
    /// Returns nothing if the referrer is unknown.
    std::optional<std::string> referrer_text(NodeIndex node) const;

    nlohmann::ordered_json node_json(NodeIndex node) const;
    nlohmann::ordered_json saved_json(uint32_t saved) const;
    nlohmann::ordered_json memory_json(AllocationRef memory) const;
    nlohmann::ordered_json referrer_json(const Referrer* referrer) const;
    nlohmann::ordered_json step_json(int32_t step) const;

private:
    std::unique_ptr<const Graph> graph_;
    const DeviceHistory& device_;
    EventNumber event_;
    GraphState graph_state_;
    ReferrerIndex referrers_;
    std::vector<EventNumber> events_;  ///< per device: the state at that time
    const Words words_;
};

/// The referrers of a view, grouped by retention path.
class ReferrerGroups {
public:
    explicit ReferrerGroups(const GraphView& view);
    /// Returns nullptr for no referrer, and for a referrer beyond the limit of groups.
    const ReferrerGroup* of(const Referrer* referrer) const;

private:
    std::vector<ReferrerGroup> groups_;
    std::unordered_map<const Referrer*, const ReferrerGroup*> group_of_;
};

/// Returns the word in JSON, such as "never_executed" or "executed".
std::string_view state_word(NodeState state);
nlohmann::ordered_json links_json(const GraphTables& tables, std::span<const PathLink> links);
/// Returns null for an event that never happened or is unknown.
nlohmann::ordered_json time_json(int64_t time);

}  // namespace tidemark::cli
