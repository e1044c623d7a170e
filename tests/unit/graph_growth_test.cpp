// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/graph_growth.h"

#include <gtest/gtest.h>

#include "storage/text/referrer_words.h"
#include "tests/unit/graph_builder.h"

namespace tidemark {
namespace {

using test::Graph;
using test::GraphBuilder;
using test::RandomRun;

AllocationRef memory(uint32_t index) { return {0, index}; }

TEST(GraphGrowth, SlicesMatchTheStateAtTheirEnd) {
    for (uint32_t seed = 0; seed < 8; ++seed) {
        const Graph graph = RandomRun(seed).graph();
        const GraphGrowth growth = graph_growth(graph.categories);
        ASSERT_EQ(growth.slices.size(), 10u);
        for (size_t s = 0; s < growth.slices.size(); ++s) {
            const GraphSlice& slice = growth.slices[s];
            const GraphState state = graph.at(slice.end);
            EXPECT_EQ(slice.step, static_cast<int32_t>(s));
            EXPECT_EQ(slice.nodes, state.alive_nodes());
            EXPECT_EQ(slice.roots, static_cast<int64_t>(state.roots().size()));
            EXPECT_EQ(slice.reachable_bytes, state.reachable_bytes());
            int64_t by_type = 0, older = 0;
            for (const TypeGrowth& type : growth.types) {
                by_type += type.nodes[s];
            }
            EXPECT_EQ(by_type, slice.nodes);
            for (const NodeIndex node : state.parents_first()) {
                older += s > 0 && graph.index.tables().nodes.created[node] <= growth.slices[s - 1].end;
            }
            EXPECT_EQ(slice.older_nodes, older);
            EXPECT_LE(slice.older_reachable_bytes, slice.reachable_bytes);
        }
    }
}

TEST(GraphGrowth, CountsBytesReachableFromNodesOfEarlierSteps) {
    Trace trace = test::trace_of_sizes({1, 10, 100});
    trace.steps = {{0, StepSource::user, 0, 100}, {1, StepSource::user, 100, 200}, {2, StepSource::user, 200, 300}};
    GraphBuilder builder;
    builder.node("A", {}, {memory(0), memory(1)}, {50});
    builder.node("A", {}, {memory(1), memory(2)}, {150, never_happened, 250});
    const Graph graph(std::move(trace), std::move(builder.tables));
    const GraphGrowth growth = graph_growth(graph.categories);
    EXPECT_EQ(growth.slices[1].reachable_bytes, 111);
    EXPECT_EQ(growth.slices[1].older_reachable_bytes, 11);
    EXPECT_EQ(growth.slices[2].reachable_bytes, 11);
    EXPECT_EQ(growth.slices[2].older_nodes, 2);
    ASSERT_EQ(growth.types.size(), 1u);
    EXPECT_EQ(growth.types[0].growth(), 1);
}

TEST(GraphGrowth, SlicesEvenlyWithoutSteps) {
    Trace trace = test::trace_of_sizes({});
    trace.duration = 1000;
    GraphBuilder builder;
    builder.node("A", {}, {}, {500});
    const Graph graph(std::move(trace), std::move(builder.tables));
    const GraphGrowth growth = graph_growth(graph.categories);
    ASSERT_EQ(growth.slices.size(), 100u);
    EXPECT_EQ(growth.slices.back().end, 1000);
    EXPECT_EQ(growth.slices[48].nodes, 0);
    EXPECT_EQ(growth.slices[49].nodes, 1);
    EXPECT_EQ(growth.slices[49].step, -1);
}

/// A list of a hundred losses, one per step, created at line 10 of train.py, and one loss that was backpropagated.
struct ListOfOutputs {
    ListOfOutputs() {
        std::vector<uint64_t> sizes(200, 10);
        trace = test::trace_of_sizes(sizes);
        const StackId stack = test::stack_of(trace.stacks, {{"/home/anna/train.py", "main"}});
        builder.tables.scans = {{5, {ScanReason::mark, "a"}, 1, 1, 1}, {20000, ScanReason::end, 1, 1, 1}};
        for (uint32_t i = 0; i < 100; ++i) {
            trace.steps.push_back({i, StepSource::user, i * 100, i * 100 + 100});
            const NodeIndex below = builder.node("MmBackward0", {}, {memory(2 * i)}, {i * 100 + 10});
            roots.push_back(builder.node("MeanBackward0", {below}, {}, {i * 100 + 20}, memory(2 * i + 1), stack));
            retention(roots.back(), memory(2 * i + 1), "outputs", i);
        }
        builder.node("MeanBackward0", {}, {}, {100, 200, 200}, {}, stack);
        builder.node("AccumulateGrad", {}, {}, {100});
        retention(roots.back(), memory(199), "last", -1);
        retention(roots.back(), memory(199), "of an earlier scan", -1, 0);
    }
    void retention(NodeIndex node, AllocationRef tensor, const std::string& name, int index, uint32_t scan = 1) {
        Referrer referrer{
            scan,
            node,
            tensor,
            {{PathLinkKind::local, builder.text(name), builder.text("main"), builder.text("/x/s01.py"), 31}}};
        if (index >= 0) {
            referrer.links.push_back({PathLinkKind::index, builder.text(std::to_string(index)), 0, 0, 0});
        }
        auto& all = builder.tables.referrers;
        all.insert(scan == 0 ? all.begin() : all.end(), std::move(referrer));
    }
    Trace trace;
    GraphBuilder builder;
    std::vector<NodeIndex> roots;
};

TEST(NeverExecutedRoots, AreGroupedByTypeAndStack) {
    const ListOfOutputs list;
    const Graph graph(list.trace, list.builder.tables);
    const GraphState state = graph.at(30000);
    const ReferrerIndex referrers(graph.index, 30000);
    const auto groups = roots_never_executed(state, referrers);
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].roots, list.roots);
    EXPECT_EQ(graph.index.tables().texts[groups[0].type], "MeanBackward0");
    EXPECT_EQ(groups[0].first_step, 0);
    EXPECT_EQ(groups[0].last_step, 99);
    EXPECT_EQ(groups[0].reachable.nodes, 200);
    EXPECT_EQ(groups[0].reachable.freed_bytes, 1000);
    ASSERT_NE(groups[0].referrer, nullptr);
    EXPECT_EQ(path_words(graph.index.tables(), Words(Language::english), *groups[0].referrer),
              "list `outputs` (variable of main, s01.py:31), element 0");
}

TEST(ReferrerGroups, MergeElementsOfOneList) {
    const ListOfOutputs list;
    const Graph graph(list.trace, list.builder.tables);
    const GraphState state = graph.at(30000);
    const ReferrerIndex referrers(graph.index, 30000);
    ASSERT_NE(referrers.scan(), nullptr);
    EXPECT_EQ(referrers.scan()->reason, ScanReason::end);
    const auto groups = referrer_groups(state, referrers);
    ASSERT_EQ(groups.size(), 2u);
    EXPECT_EQ(path_words(graph.index.tables(), Words(Language::english), groups[0]),
              "list `outputs` (variable of main, s01.py:31), elements 0 to 99");
    EXPECT_EQ(groups[0].count, 100);
    EXPECT_EQ(groups[0].allocations, 100);
    EXPECT_EQ(groups[0].nodes, 200);
    EXPECT_EQ(groups[0].reachable_bytes, 2000);
    EXPECT_EQ(groups[0].freed_bytes, 1980) << "another variable refers to the last one too";
    EXPECT_EQ(path_words(graph.index.tables(), Words(Language::english), groups[1]),
              "`last` (variable of main, s01.py:31)");
    EXPECT_EQ(groups[1].reachable_bytes, 20);
    EXPECT_EQ(groups[1].freed_bytes, 0);
}

TEST(ReferrerIndex, AddsWhatScansForGrowingMemoryFound) {
    ListOfOutputs list;
    list.builder.tables.scans.push_back({20002, ScanReason::growing_sites, 1, 1, 1});
    list.retention(list.roots[7], memory(15), "moved", -1, 2);
    list.retention(no_node, memory(0), "grown", -1, 2);
    const Graph graph(list.trace, list.builder.tables);
    const auto name_of = [&](const ReferrerIndex& referrers, uint32_t position) {
        const Referrer* found = referrers.of(memory(position));
        return found == nullptr ? "" : graph.index.tables().texts[found->links.front().name];
    };
    const ReferrerIndex later(graph.index, 30000), before(graph.index, 20000);
    EXPECT_EQ(name_of(later, 3) + name_of(later, 15) + name_of(later, 0), "outputsmovedgrown");
    EXPECT_EQ(name_of(before, 3) + name_of(before, 15) + name_of(before, 0), "outputsoutputs");
    EXPECT_EQ(later.referrers().size(), before.referrers().size() + 1) << "each memory has one path";
    EXPECT_EQ(later.scan()->reason, ScanReason::growing_sites);
}

TEST(ReferrerIndex, UsesTheLastScanThatBeganBeforeATimeOrElseTheNext) {
    const ListOfOutputs list;
    const Graph graph(list.trace, list.builder.tables);
    EXPECT_EQ(ReferrerIndex(graph.index, 0).scan()->reason, Fact(ScanReason::mark, "a"));
    EXPECT_EQ(ReferrerIndex(graph.index, 19998).scan()->reason, Fact(ScanReason::mark, "a"));
    EXPECT_EQ(ReferrerIndex(graph.index, 19999).scan()->reason, ScanReason::end);
    EXPECT_EQ(ReferrerIndex(Graph(list.trace, {}).index, 0).scan(), nullptr);
    const ReferrerIndex referrers(graph.index, 30000);
    EXPECT_EQ(referrers.of(memory(0)), nullptr);
    EXPECT_NE(referrers.of(memory(3)), nullptr);
}

TEST(DescribeReferrer, WritesRetentionPathsAsPythonExpressions) {
    GraphBuilder builder;
    const auto link = [&](PathLinkKind kind, const char* name) { return PathLink{kind, builder.text(name), 0, 0, 0}; };
    Referrer referrer;
    referrer.links = {link(PathLinkKind::global, "trainer"), link(PathLinkKind::attribute, "history"),
                      link(PathLinkKind::item, "loss"), link(PathLinkKind::index, "7"),
                      link(PathLinkKind::attribute, "grad_fn")};
    EXPECT_EQ(path_words(builder.tables, Words(Language::english), referrer),
              "list `trainer.history[\"loss\"]` (global variable), element 7, there `.grad_fn`");
    EXPECT_EQ(path_words(builder.tables, Words(Language::english), Referrer{}), "unknown");
}

}  // namespace
}  // namespace tidemark
