// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/read/late_nodes.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

/// Returns the newest time at which memory that the node saved was allocated; before_recording if there is none.
int64_t time_of_saved(const SavedTensors& saved, NodeIndex node, const Trace& trace) {
    int64_t newest = before_recording;
    for (uint32_t i = saved.first[node]; i < saved.first[node + 1]; ++i) {
        const AllocationRef memory = saved.allocation[i];
        if (!memory) {
            continue;
        }
        const DeviceHistory& device = trace.devices[memory.device];
        if (memory.index >= device.allocations.begin_of_history()) {
            newest = std::max(newest, device.alloc_time(memory.index));
        }
    }
    return newest;
}

/// Returns the newest creation of the nodes that an edge leads to.
int64_t time_of_children(const GraphTables& tables, NodeIndex node) {
    const GraphEdges& edges = tables.edges;
    int64_t newest = before_recording;
    for (uint32_t edge = edges.first[node]; edge < edges.first[node + 1]; ++edge) {
        // Nodes of leaves are found late as well, and exist for longer.
        const NodeIndex child = edges.to[edge];
        newest = tables.nodes.sequence[child] < 0 ? newest : std::max(newest, tables.nodes.created[child]);
    }
    return newest;
}

}  // namespace

void date_late_nodes(GraphTables& tables, const Trace& trace) {
    GraphNodes& nodes = tables.nodes;
    std::vector<std::pair<int64_t, NodeIndex>> late;  // by the order of their creation
    for (NodeIndex node = 0; node < nodes.size(); ++node) {
        if (nodes.created[node] == before_recording && nodes.sequence[node] >= 0) {
            late.emplace_back(nodes.sequence[node], node);
        }
    }
    std::sort(late.begin(), late.end());
    for (const auto& [sequence, node] : late) {
        const int64_t end =
            std::min({nodes.executed[node], nodes.released[node], nodes.destroyed[node], trace.duration});
        const int64_t created = std::max(time_of_saved(tables.saved, node, trace), time_of_children(tables, node));
        nodes.created[node] = std::min(created, end);
    }
}

}  // namespace tidemark
