// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes a trace with a graph small enough to check by eye:
//
//   make_graph_trace FILE.tide STEPS scanned|unscanned
//
// Device 0: the parameter Net.fc.weight (4096 bytes), then one allocation of 1024 bytes per step, one step every 10 µs.
// A step makes MmBackward0 in Net.layers.S.fc, which saves its step's memory and the weight, and above it SumBackward0,
// whose tensor is element S of the list `outputs`; no backward executes them. At the end, a loss that backward executed
// with retain_graph, retained by trainer.loss, and a node that is destroyed. With `scanned`, a heap scan ends the
// trace.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "storage/timeline/curves.h"
#include "storage/write/trace_writer.h"
#include "tests/unit/graph_builder.h"

namespace tidemark::test {
namespace {

constexpr int64_t step_ns = 10'000;

Trace trace_of_steps(int steps) {
    Trace trace;
    trace.source = "make_graph_trace";
    trace.duration = (steps + 1) * step_ns;
    trace.streams = {{0, ""}};
    trace.pools = {Pool{}};
    trace.origins = {Origin{}};
    DeviceHistory device;
    Segment segment;
    segment.address = 0x1000000;
    segment.size = 32 << 20;
    device.segments.push_back(segment);
    segment.address = 0x8000000;
    segment.alloc_event = 0;
    device.segments.push_back(segment);
    const auto happens = [&](int64_t time, EventRef what) {
        device.event_time.push_back(time);
        device.event_ref.push_back(what);
    };
    happens(0, {Action::segment_alloc, 1});
    const StackId stack = stack_of(trace.stacks, {{"/home/anna/model.py", "forward"}, {"/home/anna/s01.py", "main"}});
    add_allocation(device, before_history, never, never, 0x1000000, 4096, 4096, 0);
    for (int s = 0; s < steps; ++s) {
        add_allocation(device, s + 1, never, never, 0x1001000 + 1024 * static_cast<uint64_t>(s), 1000, 1024, stack);
        happens(s * step_ns, {Action::alloc, static_cast<uint32_t>(s) + 1});
        trace.origins.push_back({"aten::mm", "Net.layers." + std::to_string(s) + ".fc", Phase::forward, "", "", 1});
        trace.steps.push_back({s, StepSource::user, s * step_ns, (s + 1) * step_ns});
    }
    device.others.push_back({steps + 1, Action::snapshot, "snapshot", 0, 0, 0});
    happens(trace.duration, {Action::snapshot, 0});
    trace.devices.push_back(std::move(device));
    return trace;
}

GraphTables graph_of(Trace& trace, bool is_scanned) {
    const auto steps = static_cast<uint32_t>(trace.steps.size());
    const StackId in_forward = trace.devices[0].allocations.stack.back();
    const StackId in_main = stack_of(trace.stacks, {{"/home/anna/s01.py", "main"}});
    const AllocationRef weight{0, 0};
    GraphBuilder graph;
    GraphNodes& nodes = graph.tables.nodes;
    if (is_scanned) {
        graph.tables.scans = {{trace.duration, ScanReason::end, 5'000'000, 1000, steps + 2}};
    }
    const auto retention = [&](NodeIndex node, AllocationRef memory, std::vector<PathLink> links) {
        if (is_scanned) {
            graph.tables.referrers.push_back({0, node, memory, std::move(links)});
        }
    };
    const uint32_t main = graph.text("main"), file = graph.text("/home/anna/s01.py");
    graph.label(weight, 0, Category::parameter, "fc.weight");
    retention(no_node, weight,
              {{PathLinkKind::global, graph.text("net"), 0, file, 0},
               {PathLinkKind::attribute, graph.text("weight"), 0, 0, 0}});
    const NodeIndex leaf = graph.node("AccumulateGrad", {}, {}, {before_recording}, weight);
    nodes.variable[leaf] = graph.text("fc.weight");
    for (uint32_t s = 0; s < steps; ++s) {
        const int64_t made = s * step_ns + 1000;
        const NodeIndex mm = graph.node("MmBackward0", {leaf}, {{0, s + 1}, weight}, {made}, {}, in_forward);
        nodes.origin[mm] = s + 1;
        const NodeIndex sum = graph.node("SumBackward0", {mm}, {}, {made + 1000}, {}, in_main);
        retention(sum, {},
                  {{PathLinkKind::local, graph.text("outputs"), main, file, 31},
                   {PathLinkKind::index, graph.text(std::to_string(s)), 0, 0, 0}});
    }
    const int64_t last = (steps - 1) * step_ns;
    const NodeIndex loss =
        graph.node("MseLossBackward0", {leaf}, {{0, steps}}, {last + 3000, last + 4000}, {}, in_main);
    retention(loss, {},
              {{PathLinkKind::global, graph.text("trainer"), 0, file, 0},
               {PathLinkKind::attribute, graph.text("loss"), 0, 0, 0}});
    graph.node("ReluBackward0", {leaf}, {{0, steps}}, {1000, 2000, 2000, 3000});
    return std::move(graph.tables);
}

}  // namespace
}  // namespace tidemark::test

int main(int argc, char** argv) {
    using namespace tidemark;
    if (argc != 4) {
        std::fputs("usage: make_graph_trace FILE.tide STEPS scanned|unscanned\n", stderr);
        return 2;
    }
    Trace trace = test::trace_of_steps(std::atoi(argv[2]));
    const GraphTables graph = test::graph_of(trace, std::string_view(argv[3]) == "scanned");
    Progress progress;
    const Status written = write_trace(trace, peak_events(trace), argv[1], IfExists::replace, progress, &graph);
    if (!written) {
        std::fprintf(stderr, "%s\n", written.error().sentence.english().c_str());
    }
    return written ? 0 : 1;
}
