// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/graph/graph_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/unit/graph_builder.h"

namespace tidemark {
namespace {

using test::Graph;
using test::GraphBuilder;
using Nodes = std::vector<NodeIndex>;

AllocationRef memory(uint32_t index) { return {0, index}; }

/// Returns root -> left, right -> shared -> leaf, and left -> AccumulateGrad of the weight. Node, saved allocations:
///   0 leaf: 0   1 shared: 1   2 AccumulateGrad   3 left: 2, 1   4 right: 2, 3 (the weight)   5 root
Graph diamond() {
    GraphBuilder builder;
    builder.node("LeafBackward0", {}, {memory(0)});
    builder.node("SharedBackward0", {0}, {memory(1)});
    builder.node("AccumulateGrad", {}, {}, {}, memory(3));
    builder.node("LeftBackward0", {1, 2}, {memory(2), memory(1)});
    builder.node("RightBackward0", {1}, {memory(2), memory(3)});
    builder.node("RootBackward0", {3, 4}, {});
    builder.label(memory(3), 5, Category::parameter, "weight");
    return Graph(test::trace_of_sizes({1, 10, 100, 1000}), std::move(builder.tables));
}

TEST(GraphState, ComputesRetainedAndShallowBytes) {
    const Graph graph = diamond();
    const GraphState state = graph.at(10);
    EXPECT_EQ(state.roots(), (Nodes{5}));
    EXPECT_EQ(state.alive_nodes(), 6);
    EXPECT_EQ(state.reachable_bytes(), 111) << "the graph does not own the weight";
    EXPECT_EQ(state.shallow_bytes(3), 110);
    EXPECT_EQ(state.shallow_bytes(4), 100);
    EXPECT_EQ(state.retained_bytes(5), 111);
    EXPECT_EQ(state.retained_bytes(4), 0) << "left saved the same memory";
    EXPECT_EQ(state.retained_bytes(3), 0);
    EXPECT_EQ(state.retained_bytes(1), 1) << "left retains 10 too";
    EXPECT_EQ(state.dominator(1), 5u);
    EXPECT_EQ(state.dominator(0), 1u);
    EXPECT_EQ(state.dominator(2), 3u);
    EXPECT_EQ(state.dominator(5), no_node);
    EXPECT_EQ(state.retainers(memory(2)).size(), 2u);
}

TEST(GraphState, SummarizesReachableNodesAndFindsPaths) {
    const Graph graph = diamond();
    const GraphState state = graph.at(10);
    const RootSummary summary = state.summary(5);
    EXPECT_EQ(summary.nodes, 6);
    EXPECT_EQ(summary.reachable_bytes, 111);
    EXPECT_EQ(summary.retained_bytes, 111);
    EXPECT_FALSE(summary.was_executed);
    const Nodes path = state.path_to(0);
    ASSERT_EQ(path.size(), 4u);
    EXPECT_EQ(path.front(), 5u);
    EXPECT_EQ(path[2], 1u);
    EXPECT_EQ(path.back(), 0u);
}

TEST(GraphState, ReleasedNodesRetainOnlyTheirChildren) {
    GraphBuilder builder;
    builder.node("A", {}, {memory(0)});
    builder.node("B", {0}, {memory(1)}, {0, 20, 20, 40});
    const Graph graph(test::trace_of_sizes({1, 10}), std::move(builder.tables));
    EXPECT_EQ(graph.index.state(1, 19), NodeState::never_executed);
    EXPECT_EQ(graph.index.state(1, 20), NodeState::released);
    EXPECT_EQ(graph.index.state(1, 40), NodeState::destroyed);
    EXPECT_EQ(graph.at(10).retained_bytes(1), 11);
    EXPECT_EQ(graph.at(20).shallow_bytes(1), 0);
    EXPECT_EQ(graph.at(20).retained_bytes(1), 1);
    EXPECT_TRUE(graph.at(20).summary(1).was_executed);
    EXPECT_EQ(graph.at(40).roots(), (Nodes{0}));
    EXPECT_FALSE(graph.at(40).is_alive(1));
    EXPECT_TRUE(graph.at(40).path_to(1).empty());
}

TEST(GraphState, ExcludesFreedMemory) {
    Trace trace = test::sample_trace();  // allocation 1 is alive from event 1 to 3
    GraphBuilder builder;
    builder.node("A", {}, {memory(1)});
    const Graph graph(std::move(trace), std::move(builder.tables));
    EXPECT_EQ(graph.at(999).reachable_bytes(), 0);
    EXPECT_EQ(graph.at(1000).reachable_bytes(), 1024);
    EXPECT_EQ(graph.at(2999).reachable_bytes(), 1024);
    EXPECT_EQ(graph.at(3000).reachable_bytes(), 0);
}

TEST(GraphState, TerminatesOnDamagedGraphsWithCycles) {
    GraphBuilder builder;
    builder.node("A", {1}, {memory(0)});
    builder.node("B", {0}, {memory(1)});
    builder.node("C", {2, 1}, {memory(2)});
    const Graph graph(test::trace_of_sizes({1, 10, 100}), std::move(builder.tables));
    const GraphState state = graph.at(10);
    EXPECT_TRUE(state.roots().empty());
    EXPECT_EQ(state.reachable_bytes(), 111);
    EXPECT_EQ(state.parents_first().size(), 3u);
    for (NodeIndex node = 0; node < 3; ++node) {
        EXPECT_FALSE(state.path_to(node).empty());
        EXPECT_EQ(state.summary(node).reachable_bytes >= state.shallow_bytes(node), true);
        state.freed_by(node);
    }
    const std::vector<ReferrerTargets> targets{{{0}, {}}};
    EXPECT_EQ(state.reachable_from(targets)[0].bytes, 11);
}

/// Returns the alive nodes reachable from `from` if `without` is removed.
std::set<NodeIndex> reached(const Graph& graph, const GraphState& state, const Nodes& from, NodeIndex without) {
    std::set<NodeIndex> seen;
    Nodes open = from;
    while (!open.empty()) {
        const NodeIndex node = open.back();
        open.pop_back();
        if (node == without || !state.is_alive(node) || !seen.insert(node).second) {
            continue;
        }
        for (const NodeIndex child : graph.index.children(node)) {
            open.push_back(child);
        }
    }
    return seen;
}

int64_t bytes_of(const Graph& graph, const GraphState& state, const std::set<NodeIndex>& nodes) {
    const auto& all = graph.index.trace().devices[0].allocations;
    int64_t bytes = 0;
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        const auto retainers = state.retainers({0, a});
        const bool retained = std::any_of(retainers.begin(), retainers.end(),
                                          [&](uint32_t s) { return nodes.contains(graph.index.saver(s)); });
        const bool outside = graph.categories.at({0, a}, state.time()) == Category::parameter;
        bytes += retained && !outside ? static_cast<int64_t>(all.block_size[a]) : 0;
    }
    return bytes;
}

class RandomGraph : public testing::TestWithParam<int> {
protected:
    Graph make() {
        constexpr uint32_t allocations = 40;
        std::vector<uint64_t> sizes(allocations);
        for (uint64_t& size : sizes) {
            size = 1 + below(1000);
        }
        GraphBuilder builder;
        const uint32_t nodes = 20 + below(60), reach = 1 + below(20);
        for (uint32_t n = 0; n < nodes; ++n) {
            Nodes children;
            std::vector<AllocationRef> saved;
            for (uint32_t i = below(4); n > 0 && i > 0; --i) {
                children.push_back(n - 1 - below(std::min(n, reach)));
            }
            for (uint32_t i = below(3); i > 0; --i) {
                saved.push_back(below(10) == 0 ? AllocationRef{} : memory(below(allocations)));
            }
            GraphBuilder::Lifetime lifetime;
            lifetime.released = below(8) == 0 ? 5 : never_happened;
            lifetime.destroyed = below(12) == 0 ? 5 : never_happened;
            lifetime.created = below(12) == 0 ? 20 : 0;
            builder.node("N", children, saved, lifetime);
        }
        for (uint32_t m = 0; m < allocations; m += 7) {
            builder.label(memory(m), 0, Category::parameter);
        }
        return Graph(test::trace_of_sizes(sizes), std::move(builder.tables));
    }
    uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

    std::mt19937 random_{static_cast<uint32_t>(GetParam())};
};

TEST_P(RandomGraph, RetainedBytesAreFreedIfTheNodeIsRemoved) {
    const Graph graph = make();
    const GraphState state = graph.at(10);
    const auto all = reached(graph, state, state.roots(), no_node);
    EXPECT_EQ(static_cast<int64_t>(all.size()), state.alive_nodes());
    EXPECT_EQ(bytes_of(graph, state, all), state.reachable_bytes());
    for (NodeIndex node = 0; node < graph.index.tables().nodes.size(); ++node) {
        if (!state.is_alive(node)) {
            EXPECT_EQ(state.retained_bytes(node), 0);
            EXPECT_EQ(state.shallow_bytes(node), 0);
            continue;
        }
        const auto left = reached(graph, state, state.roots(), node);
        const int64_t gone = bytes_of(graph, state, all) - bytes_of(graph, state, left);
        EXPECT_EQ(state.retained_bytes(node), gone) << node;
        const Reachable freed = state.freed_by(node);
        EXPECT_EQ(freed.freed_bytes, gone) << node;
        EXPECT_EQ(freed.freed_nodes, static_cast<int64_t>(all.size() - left.size())) << node;
        EXPECT_EQ(state.shallow_bytes(node), bytes_of(graph, state, {node})) << node;
        if (const NodeIndex above = state.dominator(node); above != no_node) {
            EXPECT_FALSE(reached(graph, state, state.roots(), above).contains(node));
        }
        EXPECT_EQ(state.summary(node).reachable_bytes, bytes_of(graph, state, reached(graph, state, {node}, no_node)));
        const Nodes path = state.path_to(node);
        EXPECT_TRUE(std::count(state.roots().begin(), state.roots().end(), path.front()));
        EXPECT_EQ(path.back(), node);
        for (size_t i = 1; i < path.size(); ++i) {
            const auto children = graph.index.children(path[i - 1]);
            EXPECT_TRUE(std::count(children.begin(), children.end(), path[i]));
        }
    }
}

TEST_P(RandomGraph, ReferrersReachAndFreeTheBytesOfTheDefinition) {
    const Graph graph = make();
    const GraphState state = graph.at(10);
    std::vector<ReferrerTargets> referrers(70);  // more than fit into one batch
    for (size_t r = 0; r < state.roots().size(); ++r) {
        if (r % 5 != 4) {
            referrers[(r * 23) % referrers.size()].nodes.push_back(state.roots()[r]);
        }
    }
    referrers[3].allocations.push_back(memory(1));
    const auto reachable = state.reachable_from(referrers);
    const auto all = reached(graph, state, state.roots(), no_node);
    for (size_t h = 0; h < referrers.size(); ++h) {
        const auto own = reached(graph, state, referrers[h].nodes, no_node);
        Nodes others;
        std::copy_if(state.roots().begin(), state.roots().end(), std::back_inserter(others), [&](NodeIndex root) {
            return !std::count(referrers[h].nodes.begin(), referrers[h].nodes.end(), root);
        });
        const auto left = reached(graph, state, others, no_node);
        EXPECT_EQ(reachable[h].nodes, static_cast<int64_t>(own.size()));
        EXPECT_EQ(reachable[h].freed_nodes, static_cast<int64_t>(all.size() - left.size()));
        if (h != 3) {
            EXPECT_EQ(reachable[h].bytes, bytes_of(graph, state, own));
            const bool memory_1_is_shared = !state.retainers(memory(1)).empty();
            if (!memory_1_is_shared) {
                EXPECT_EQ(reachable[h].freed_bytes, bytes_of(graph, state, all) - bytes_of(graph, state, left));
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Many, RandomGraph, testing::Range(0, 60));

}  // namespace
}  // namespace tidemark
