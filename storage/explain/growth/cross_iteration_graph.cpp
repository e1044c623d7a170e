// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/growth/cross_iteration_graph.h"

#include <set>

namespace tidemark {
namespace {

constexpr size_t fewest_iterations = 4;

/// Returns the position of the iteration in which a node was created; -1: before the recording.
int64_t iteration_of(const AnalysisContext& context, const LeakSuspect& suspect, NodeIndex node) {
    const int64_t made = context.graph()->tables().nodes.created[node];
    return made == before_recording ? -1 : suspect.iterations->at(context.device().events_until(made));
}

/// Returns whether the node was created in the last iteration, or in the one before, which may be the last whole one.
bool is_of_newest_iteration(const AnalysisContext& context, const LeakSuspect& suspect, NodeIndex node) {
    return iteration_of(context, suspect, node) + 2 >= static_cast<int64_t>(suspect.iterations->size());
}

NodeIndex newest_child_of_type(const GraphContext& graph, NodeIndex node) {
    const auto& nodes = graph.tables().nodes;
    NodeIndex newest = no_node;
    for (const NodeIndex child : graph.index.children(node)) {
        if (nodes.type[child] == nodes.type[node] && (newest == no_node || child > newest)) {
            newest = child;
        }
    }
    return newest;
}

}  // namespace

std::optional<Link> cross_iteration_link(const AnalysisContext& context, const LeakSuspect& suspect) {
    if (!suspect.through_graph()) {
        return std::nullopt;
    }
    const GraphContext& graph = *context.graph();
    // The path leads to the oldest memory of the suspect.
    const AllocationRef oldest{context.device_position(), suspect.sites.front()->now.front()};
    const Retention retention = retention_of(graph, oldest);
    // A state of several tensors has several roots, all of the newest iteration.
    if (suspect.roots != 1 &&
        (retention.root == no_node || !is_of_newest_iteration(context, suspect, retention.root))) {
        return std::nullopt;
    }
    const std::vector<NodeIndex> path =
        retention.retainer == no_node ? std::vector<NodeIndex>() : graph.state.path_to(retention.retainer);
    std::set<int64_t> iterations;
    for (const NodeIndex node : path) {
        iterations.insert(iteration_of(context, suspect, node));
    }
    // Outputs of all iterations that were joined at the end form one graph, too, but no chain.
    if (iterations.size() < fewest_iterations) {
        return std::nullopt;
    }
    for (size_t i = 1; i < path.size(); ++i) {
        if (iteration_of(context, suspect, path[i]) < iteration_of(context, suspect, path[i - 1])) {
            return Link{path[i - 1], path[i]};
        }
    }
    return std::nullopt;
}

int64_t chain_length_of_same_type(const GraphContext& graph, NodeIndex root) {
    int64_t length = 0;
    for (NodeIndex node = root; node != no_node; node = newest_child_of_type(graph, node)) {
        ++length;
    }
    return length;
}

}  // namespace tidemark
