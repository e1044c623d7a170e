// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/graph_index.h"

#include <algorithm>

namespace tidemark {
namespace {

/// In a forged file, nodes of the same memory may refer to each other in a circle.
constexpr int most_views = 64;

bool is_type_of_leaves(std::string_view type) { return type.ends_with("AccumulateGrad"); }

/// Returns, for each item of consecutive rows, the row that contains it.
std::vector<NodeIndex> owners(const std::vector<uint32_t>& first, size_t items) {
    std::vector<NodeIndex> owners(items);
    for (size_t row = 0; row + 1 < first.size(); ++row) {
        std::fill(owners.begin() + first[row], owners.begin() + first[row + 1], static_cast<NodeIndex>(row));
    }
    return owners;
}

}  // namespace

GraphIndex::GraphIndex(std::shared_ptr<const Trace> trace, std::shared_ptr<const GraphTables> tables)
    : trace_(std::move(trace)), tables_(std::move(tables)) {
    for (const DeviceHistory& device : trace_->devices) {
        first_place_.push_back(first_place_.back() + device.allocations.size());
    }
    for (const std::string& text : tables_->texts) {
        is_leaf_type_.push_back(is_type_of_leaves(text));
    }
    const GraphEdges& edges = tables_->edges;
    parents_ = Lists(tables_->nodes.size(), edges.to.size(), [&](size_t edge) { return edges.to[edge]; });
    parents_.replace([from = owners(edges.first, edges.to.size())](uint32_t edge) { return from[edge]; });
    const SavedTensors& saved = tables_->saved;
    saver_ = owners(saved.first, saved.allocation.size());
    saved_in_ = Lists(places(), saved.allocation.size(),
                      [&](size_t s) { return saved.allocation[s] ? place(saved.allocation[s]) : no_owner; });
    find_makers();
}

NodeIndex GraphIndex::oldest_with_same_output(NodeIndex node) const {
    const auto& output = tables_->nodes.output;
    for (int i = 0; i < most_views; ++i) {
        const auto below = children(node);
        const auto older =
            std::find_if(below.begin(), below.end(), [&](NodeIndex child) { return output[child] == output[node]; });
        if (older == below.end()) {
            break;
        }
        node = *older;
    }
    return node;
}

void GraphIndex::find_makers() {
    maker_.assign(places(), no_node);
    const auto& output = tables_->nodes.output;
    for (NodeIndex node = 0; node < tables_->nodes.size(); ++node) {
        if (output[node] && maker_[place(output[node])] == no_node) {
            maker_[place(output[node])] = oldest_with_same_output(node);
        }
    }
    for (NodeIndex& maker : maker_) {
        maker = maker != no_node && is_leaf(maker) ? no_node : maker;
    }
}

NodeState GraphIndex::state(NodeIndex node, int64_t time) const {
    const GraphNodes& nodes = tables_->nodes;
    return nodes.created[node] > time      ? NodeState::not_created
           : nodes.destroyed[node] <= time ? NodeState::destroyed
           : nodes.released[node] <= time  ? NodeState::released
           : nodes.executed[node] <= time  ? NodeState::executed
                                           : NodeState::never_executed;
}

NodeIndex GraphIndex::find(int64_t id) const {
    const auto& ids = tables_->nodes.id;
    const auto found = std::lower_bound(ids.begin(), ids.end(), id);
    return found != ids.end() && *found == id ? static_cast<NodeIndex>(found - ids.begin()) : no_node;
}

std::span<const NodeIndex> GraphIndex::children(NodeIndex node) const {
    const GraphEdges& edges = tables_->edges;
    return {edges.to.data() + edges.first[node], edges.to.data() + edges.first[node + 1]};
}

std::span<const NodeIndex> GraphIndex::parents(NodeIndex node) const { return parents_.of(node); }

NodeIndex GraphIndex::maker(AllocationRef allocation) const { return allocation ? maker_[place(allocation)] : no_node; }

std::span<const uint32_t> GraphIndex::saved_in(AllocationRef allocation) const {
    return allocation ? saved_in_.of(place(allocation)) : std::span<const uint32_t>();
}

int32_t GraphIndex::step_of(NodeIndex node) const {
    const int64_t created = tables_->nodes.created[node];
    const auto& steps = trace_->steps;
    const auto after = std::upper_bound(steps.begin(), steps.end(), created,
                                        [](int64_t time, const Step& step) { return time < step.start; });
    if (created == before_recording || after == steps.begin() || std::prev(after)->end.value_or(INT64_MAX) < created) {
        return -1;
    }
    return static_cast<int32_t>(std::prev(after) - steps.begin());
}

}  // namespace tidemark
