// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A graph of four nodes on the last allocations of a trace. It uses every kind of row that a graph can have.
#pragma once

#include "storage/trace/graph_tables.h"

namespace tidemark::test {

/// Requires at least four allocations on the first device of `trace`.
inline GraphTables small_graph(const Trace& trace) {
    const DeviceHistory& device = trace.devices.front();
    const AllocationIndex last = device.allocations.size() - 1;
    const auto memory = [&](AllocationIndex from_end) { return AllocationRef{0, last - from_end}; };
    GraphTables graph;
    const auto text = [&](const char* words) {
        graph.texts.emplace_back(words);
        return static_cast<uint32_t>(graph.texts.size() - 1);
    };
    const auto edge = [&](NodeIndex to, uint16_t slot, uint16_t input) {
        graph.edges.to.push_back(to);
        graph.edges.slot.push_back(slot);
        graph.edges.input.push_back(input);
    };
    const auto saved = [&](uint32_t name, AllocationRef allocation, uint64_t bytes, uint8_t flags) {
        graph.saved.name.push_back(name);
        graph.saved.allocation.push_back(allocation);
        graph.saved.offset.push_back(flags == 1 ? 64 : 0);
        graph.saved.bytes.push_back(bytes);
        graph.saved.version.push_back(flags);
        graph.saved.is_view.push_back(flags == 1);
        graph.saved.is_packed.push_back(flags == 2);
    };
    /// Adds a node with the edges and saved tensors that were added since the previous node.
    const auto node = [&](int64_t id, uint32_t type, uint32_t variable, int64_t sequence, AllocationRef output,
                          int64_t created, int64_t executed, int64_t released, int64_t destroyed) {
        GraphNodes& nodes = graph.nodes;
        nodes.id.push_back(id);
        nodes.type.push_back(type);
        nodes.variable.push_back(variable);
        nodes.sequence.push_back(sequence);
        nodes.origin.push_back(trace.origins.size() > 1 ? 1 : 0);
        nodes.stack.push_back(trace.stacks.stack_count() > 1 ? 1 : 0);
        nodes.created.push_back(created);
        nodes.executed.push_back(executed);
        nodes.released.push_back(released);
        nodes.destroyed.push_back(destroyed);
        nodes.output.push_back(output);
        graph.edges.first.push_back(static_cast<uint32_t>(graph.edges.to.size()));
        graph.saved.first.push_back(static_cast<uint32_t>(graph.saved.name.size()));
    };
    const uint32_t accumulate = text("AccumulateGrad"), weight = text("layer.weight"), mul = text("MulBackward0");
    const uint32_t mean = text("MeanBackward0"), self = text("self"), losses = text("losses");
    const uint32_t function = text("train"), file = text("/home/anna/train.py"), index = text("[3]");

    node(5, accumulate, weight, -1, memory(0), before_recording, never_happened, never_happened, never_happened);
    edge(0, 1, 0);
    saved(self, memory(1), 100, 1);
    saved(self, {}, 0, 2);
    node(6, mul, 0, 41, memory(2), 10, 20, never_happened, never_happened);
    edge(1, 0, 3);
    saved(self, memory(2), 50, 0);
    node(9, mean, 0, 42, {}, 11, 20, 20, never_happened);
    node(10, mean, 0, 43, memory(3), 12, 21, 21, 30);

    graph.labels = {{memory(0), 1, Category::parameter, weight},
                    {memory(3), 2, Category::optimizer_state, 0},
                    {memory(0), 3, Category::unknown, 0}};
    graph.scans = {{40, ScanReason::end, 5'000'000, 1000, 12}};
    graph.referrers = {
        {0, 2, memory(3), {{PathLinkKind::local, losses, function, file, 31}, {PathLinkKind::index, index, 0, 0, 0}}},
        {0, no_node, {}, {}}};
    graph.nodes_left_out = 7;
    return graph;
}

}  // namespace tidemark::test
