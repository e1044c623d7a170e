// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Autograd graphs for tests: built node by node, or random.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "storage/graph/graph.h"
#include "storage/graph/graph_state.h"
#include "tests/unit/sample_trace.h"

namespace tidemark::test {

/// Builds a graph node by node. Edges and saved tensors are added with their node.
class GraphBuilder {
public:
    struct Lifetime {
        int64_t created = 0, executed = never_happened, released = never_happened, destroyed = never_happened;
    };

    uint32_t text(const std::string& text) {
        for (uint32_t t = 0; t < tables.texts.size(); ++t) {
            if (tables.texts[t] == text) {
                return t;
            }
        }
        tables.texts.push_back(text);
        return static_cast<uint32_t>(tables.texts.size() - 1);
    }

    NodeIndex node(const std::string& type, const std::vector<NodeIndex>& children,
                   const std::vector<AllocationRef>& saved, Lifetime lifetime, AllocationRef output = {},
                   StackId stack = 0) {
        GraphNodes& n = tables.nodes;
        n.id.push_back(n.size() + 1);
        n.type.push_back(text(type));
        n.variable.push_back(0);
        n.sequence.push_back(n.size());
        n.origin.push_back(0);
        n.stack.push_back(stack);
        n.created.push_back(lifetime.created);
        n.executed.push_back(lifetime.executed);
        n.released.push_back(lifetime.released);
        n.destroyed.push_back(lifetime.destroyed);
        n.output.push_back(output);
        uint16_t slot = 0;
        for (const NodeIndex child : children) {
            tables.edges.to.push_back(child);
            tables.edges.slot.push_back(slot++);
            tables.edges.input.push_back(0);
        }
        tables.edges.first.push_back(static_cast<uint32_t>(tables.edges.to.size()));
        for (const AllocationRef allocation : saved) {
            SavedTensors& s = tables.saved;
            s.name.push_back(text("self"));
            s.allocation.push_back(allocation);
            s.offset.push_back(0);
            s.bytes.push_back(100);
            s.version.push_back(0);
            s.is_view.push_back(0);
            s.is_packed.push_back(0);
        }
        tables.saved.first.push_back(static_cast<uint32_t>(tables.saved.allocation.size()));
        return n.size() - 1;
    }
    NodeIndex node(const std::string& type, const std::vector<NodeIndex>& children,
                   const std::vector<AllocationRef>& saved = {}) {
        return node(type, children, saved, Lifetime{});
    }

    void label(AllocationRef allocation, int64_t time, Category category, const std::string& name = "") {
        tables.labels.push_back({allocation, time, category, text(name)});
    }

    GraphTables tables;
};

/// Returns a trace with one device whose allocations have these sizes and exist from before the history to its end.
inline Trace trace_of_sizes(const std::vector<uint64_t>& sizes) {
    Trace trace;
    trace.streams = {{0, ""}};
    trace.pools = {Pool{}};
    trace.origins = {Origin{}};
    DeviceHistory& device = trace.devices.emplace_back();
    for (const uint64_t size : sizes) {
        add_allocation(device, before_history, never, never, 0x1000, size, size, 0);
    }
    return trace;
}

/// A graph that owns its trace and tables.
struct Graph : tidemark::Graph {
    Graph(Trace trace, GraphTables tables)
        : tidemark::Graph(std::make_shared<const Trace>(std::move(trace)),
                          std::make_shared<const GraphTables>(std::move(tables))) {}
    GraphState at(int64_t time) const { return GraphState(index, categories, time); }
};

/// Ten steps of 1 µs with 400 allocation and free events, one every 25 ns, and a graph of 300 nodes with rows in every
/// table. Equal seeds give equal runs.
struct RandomRun {
    explicit RandomRun(uint32_t seed) : random(seed), trace(trace_of_sizes({})) {
        make_trace();
        make_graph();
    }
    Graph graph() const { return Graph(trace, builder.tables); }

    uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random() % limit); }
    int64_t random_time() { return below(10000); }
    AllocationRef random_allocation() { return {0, below(trace.devices[0].allocations.size())}; }

    std::mt19937 random;
    Trace trace;
    GraphBuilder builder;

private:
    void make_trace() {
        const StackId stack = stack_of(trace.stacks, {{"/home/anna/project/train.py", "train_step"}});
        trace.duration = 10000;
        trace.origins = {{},
                         {"aten::mm", "layers.0", Phase::forward, "", "", 1},
                         {"aten::add", "layers.1", Phase::backward, "", "", 2}};
        for (int64_t s = 0; s < 10; ++s) {
            trace.steps.push_back(
                {s, StepSource::optimizer, s * 1000, s == 9 ? std::nullopt : std::optional(s * 1000 + 1000)});
        }
        DeviceHistory& device = trace.devices[0];
        Segment segment;
        segment.address = 0x1000000;
        segment.size = 1 << 20;
        device.segments.push_back(segment);
        std::vector<uint32_t> alive;
        for (EventNumber e = 0; e < 400; ++e) {
            device.event_time.push_back(e * 25);
            if (alive.size() < 3 || below(2) == 0) {
                const uint64_t size = 512 * (1 + below(8));
                const uint32_t a =
                    add_allocation(device, e, never, never, 0x1000000 + 4096 * uint64_t(e), size, size, stack);
                device.allocations.segment[a] = 0;
                device.allocations.origin[a] = below(3);
                device.event_ref.emplace_back(Action::alloc, a);
                alive.push_back(a);
            } else {
                std::swap(alive[below(static_cast<uint32_t>(alive.size()))], alive.back());
                device.allocations.free_event[alive.back()] = device.allocations.free_completed[alive.back()] = e;
                device.event_ref.emplace_back(Action::free_requested, alive.back());
                alive.pop_back();
            }
        }
    }

    int64_t created_after(const std::vector<NodeIndex>& children, const std::vector<AllocationRef>& saved) {
        int64_t time = random_time();
        for (const NodeIndex child : children) {
            time = std::max(time, builder.tables.nodes.created[child]);
        }
        for (const AllocationRef memory : saved) {
            time = std::max(time, memory ? trace.devices[0].alloc_time(memory.index) : 0);
        }
        return time;
    }

    void make_graph() {
        const char* types[] = {"MmBackward0", "AddBackward0", "AccumulateGrad", "SecretBackward"};
        for (NodeIndex n = 0; n < 300; ++n) {
            const bool is_older = below(20) == 0;  // than the recording
            std::vector<NodeIndex> children;
            for (uint32_t i = below(3); n > 0 && i > 0 && !is_older; --i) {
                children.push_back(n - 1 - below(std::min(n, 30u)));
            }
            std::vector<AllocationRef> saved;
            for (uint32_t i = below(4); i > 0 && !is_older; --i) {
                saved.push_back(below(8) == 0 ? AllocationRef{} : random_allocation());
            }
            GraphBuilder::Lifetime lifetime;
            lifetime.created = is_older ? before_recording : created_after(children, saved);
            lifetime.executed = below(2) == 0 ? std::max(lifetime.created, random_time()) : never_happened;
            lifetime.released = below(2) == 0 ? lifetime.executed : never_happened;
            lifetime.destroyed = below(3) == 0 ? never_happened : std::max(lifetime.created, random_time());
            builder.node(types[below(4)], children, saved, lifetime,
                         below(2) == 0 ? random_allocation() : AllocationRef{}, below(2));
            builder.tables.nodes.origin[n] = below(3);
        }
        for (int i = 0; i < 100; ++i) {
            builder.label(random_allocation(), i * 100, static_cast<Category>(below(category_count)),
                          below(2) == 0 ? "layers.0.weight" : "");
        }
        builder.tables.scans = {{5000, {ScanReason::mark, "epoch"}, 10, 100, 20},
                                {10000, ScanReason::end, 10, 100, 20}};
        const uint32_t outputs = builder.text("outputs"), main = builder.text("main"),
                       file = builder.text("/home/anna/project/train.py");
        for (uint32_t h = 0; h < 30; ++h) {
            builder.tables.referrers.push_back(
                {h / 15,
                 h * 7,
                 random_allocation(),
                 {{PathLinkKind::local, outputs, main, file, 31},
                  {PathLinkKind::index, builder.text(std::to_string(h % 15)), 0, 0, 0}}});
        }
    }
};

}  // namespace tidemark::test
