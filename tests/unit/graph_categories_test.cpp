// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/categories.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/graph_builder.h"

namespace tidemark {
namespace {

using test::Graph;
using test::GraphBuilder;

AllocationRef memory(uint32_t index) { return {0, index}; }

using History = std::vector<std::pair<int64_t, Category>>;
History history(const Graph& graph, uint32_t index) {
    History history;
    for (const CategoryChange& change : graph.categories.history(memory(index))) {
        history.emplace_back(change.time, change.category);
    }
    return history;
}

/// Returns a trace of ten allocations, one per µs, that are never freed.
Trace ten_allocations() {
    Trace trace = test::trace_of_sizes({});
    DeviceHistory& device = trace.devices[0];
    for (EventNumber e = 0; e < 10; ++e) {
        test::add_allocation(device, e, never, never, 0x1000, 10, 10, 0);
        device.event_time.push_back(e * 1000);
        device.event_ref.emplace_back(Action::alloc, static_cast<uint32_t>(e));
    }
    trace.duration = 20000;
    return trace;
}

TEST(Categories, ApplyLabelsToWholeLifetimesExceptForGradients) {
    GraphBuilder builder;
    builder.label(memory(0), 5000, Category::parameter, "weight");
    builder.label(memory(1), 5000, Category::gradient);
    builder.label(memory(2), 5000, Category::input);
    builder.label(memory(3), 5000, Category::optimizer_state, "exp_avg");
    builder.label(memory(3), 6000, Category::unknown);
    builder.label(memory(3), 7000, Category::buffer, "running_mean");
    const Graph graph(ten_allocations(), std::move(builder.tables));
    EXPECT_EQ(history(graph, 0), (History{{0, Category::parameter}}));
    EXPECT_EQ(history(graph, 1), (History{{1000, Category::unknown}, {5000, Category::gradient}}));
    EXPECT_EQ(history(graph, 2), (History{{2000, Category::input}}));
    EXPECT_EQ(history(graph, 3), (History{{3000, Category::optimizer_state}, {6000, Category::buffer}}));
    EXPECT_EQ(history(graph, 4), (History{{4000, Category::unknown}}));
    EXPECT_EQ(graph.categories.name(memory(0)), "weight");
    EXPECT_EQ(graph.categories.name(memory(3)), "running_mean");
    EXPECT_EQ(graph.categories.name(memory(1)), "");
    EXPECT_EQ(graph.categories.at({}, 0), Category::unknown);
}

TEST(Categories, NamesOfLabelsHaveUpToThreeParts) {
    const LabelName parts = parts_of_label("exp_avg of GPT.h.0.weight as Shard(dim=0), Replicate()");
    EXPECT_EQ("exp_avg", parts.state);
    EXPECT_EQ("GPT.h.0.weight", parts.tensor);
    EXPECT_EQ("Shard(dim=0), Replicate()", parts.placements);
    EXPECT_EQ("GPT.h.0.weight", labeled_tensor("GPT.h.0.weight"));
    EXPECT_EQ("", parts_of_label("GPT.h.0.weight as Shard(dim=0)").state);
}

TEST(Categories, MarkOutputsAsSavedWhileANodeRetainsThem) {
    GraphBuilder builder;
    builder.node("A", {}, {memory(1)}, {1000, 4000, 4000, 9000}, memory(1));
    builder.node("B", {0}, {memory(1)}, {3000, 5000, never_happened, 6000}, memory(2));
    const Graph graph(ten_allocations(), std::move(builder.tables));
    EXPECT_EQ(history(graph, 1), (History{{1000, Category::saved}, {6000, Category::output}}));
    EXPECT_EQ(history(graph, 2), (History{{2000, Category::output}}));
    EXPECT_EQ(graph.categories.at(memory(1), 0), Category::saved) << "before its creation: as at its creation";
    EXPECT_EQ(graph.categories.at(memory(1), 5999), Category::saved);
    EXPECT_EQ(graph.categories.at(memory(1), 6000), Category::output);
}

TEST(Categories, PreferTheStrongestCategory) {
    GraphBuilder builder;
    builder.node("A", {}, {memory(0), memory(1)}, {2000, never_happened, never_happened, 8000});
    builder.label(memory(0), 4000, Category::parameter);
    builder.label(memory(1), 4000, Category::gradient);
    builder.label(memory(1), 6000, Category::unknown);
    builder.label(memory(1), 7000, Category::workspace);
    const Graph graph(ten_allocations(), std::move(builder.tables));
    EXPECT_EQ(history(graph, 0), (History{{0, Category::parameter}}));
    EXPECT_EQ(history(graph, 1), (History{{1000, Category::unknown},
                                          {2000, Category::saved},
                                          {4000, Category::gradient},
                                          {6000, Category::saved},
                                          {8000, Category::workspace}}));
}

TEST(Categories, FindNoMakerOfLeavesThatHaveViews) {
    GraphBuilder builder;
    builder.node("TBackward0", {1}, {}, {100}, memory(0));  // a view recorded before its leaf
    builder.node("AccumulateGrad", {}, {}, {100}, memory(0));
    builder.node("MmBackward0", {0}, {}, {1000}, memory(1));
    builder.node("ViewBackward0", {2}, {}, {1100}, memory(1));
    const Graph graph(ten_allocations(), std::move(builder.tables));
    EXPECT_EQ(graph.index.maker(memory(0)), no_node);
    EXPECT_EQ(graph.index.maker(memory(1)), 2u);
    EXPECT_EQ(graph.index.maker(memory(2)), no_node);
}

/// Two steps of a batch, a module and a metric, with a backward pass after the first; then an evaluation.
TEST(Categories, CallWhatIsComputedFromOutputsOutputs) {
    Trace trace = ten_allocations();
    trace.origins = {{},
                     {"aten::to", "", Phase::forward, "", "", 1},
                     {"aten::mm", "Net.head", Phase::forward, "", "", 1},
                     {"", "", Phase::backward, "", "", 1},
                     {"aten::softmax", "", Phase::eval, "", "", 1}};
    const auto line = [&](int32_t number) {
        StackTable& stacks = trace.stacks;
        return stacks.intern_stack(
            std::array{stacks.intern(Frame{stacks.intern("main"), stacks.intern("m.py"), number})});
    };
    const StackId batch = line(1), net = line(2), metric = line(3), loss = line(4), scores = line(5);
    Allocations& all = trace.devices[0].allocations;
    all.origin = {1, 2, 1, 3, 1, 2, 1, 1, 2, 4};
    all.stack = {batch, net, metric, loss, batch, net, metric, batch, net, scores};
    GraphBuilder builder;
    for (const uint32_t a : {0u, 2u, 4u, 6u, 9u}) {
        builder.label(memory(a), 15000, Category::input);
    }
    const Graph graph(std::move(trace), std::move(builder.tables));
    for (const uint32_t a : {0u, 4u}) {
        EXPECT_EQ(history(graph, a), (History{{a * 1000, Category::input}})) << a;
    }
    for (const uint32_t a : {2u, 6u, 9u}) {
        EXPECT_EQ(history(graph, a), (History{{a * 1000, Category::output}})) << a;
    }
}

TEST(Categories, MarkMemoryOfOneOpOrOfBackwardAsTemporary) {
    Trace trace = ten_allocations();
    trace.origins = {{},
                     {"aten::mm", "", Phase::forward, "", "", 1},
                     {"aten::add", "", Phase::forward, "", "", 1},
                     {"", "", Phase::backward, "", "", 2},
                     {"aten::mm", "", Phase::forward, "", "", 3}};
    DeviceHistory& device = trace.devices[0];
    device.allocations.origin = {1, 1, 2, 3, 0, 1, 1, 2, 4, 4};
    device.allocations.free_event[0] = 2;  // after the thread entered aten::add
    device.allocations.free_event[5] = 6;  // within the op
    device.allocations.free_event[8] = 9;
    const Graph graph(std::move(trace), {});
    const auto at_creation = [&](uint32_t a) { return history(graph, a).front().second; };
    EXPECT_EQ(at_creation(0), Category::unknown);
    EXPECT_EQ(at_creation(1), Category::unknown) << "never freed";
    EXPECT_EQ(at_creation(3), Category::temporary) << "allocated by backward";
    EXPECT_EQ(at_creation(4), Category::unknown);
    EXPECT_EQ(at_creation(5), Category::temporary);
    EXPECT_EQ(at_creation(8), Category::temporary) << "nothing follows on its thread";
}

TEST(Categories, DoNotChangeAfterTheFree) {
    GraphBuilder builder;
    builder.node("A", {}, {memory(1)}, {1000, never_happened, never_happened, 3000});
    const Graph graph(test::sample_trace(), std::move(builder.tables));
    EXPECT_EQ(history(graph, 1), (History{{1000, Category::saved}}));
}

}  // namespace
}  // namespace tidemark
