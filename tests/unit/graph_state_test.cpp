#include "storage/graph/graph_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/unit/hand_made_graph.h"

namespace tidemark {
namespace {

using test::Graph;
using test::GraphMaker;
using Nodes = std::vector<NodeIndex>;

AllocationRef memory(uint32_t index) { return {0, index}; }

/// root -> left, right -> shared -> leaf; the weight's AccumulateGrad below left.
///   0 leaf (saves 0)   1 shared (saves 1)   2 AccumulateGrad   3 left (saves 2, 1)   4 right (saves 2, weight 3)   5
///   root
Graph diamond() {
    GraphMaker maker;
    maker.node("LeafBackward0", {}, {memory(0)});
    maker.node("SharedBackward0", {0}, {memory(1)});
    maker.node("AccumulateGrad", {}, {}, {}, memory(3));
    maker.node("LeftBackward0", {1, 2}, {memory(2), memory(1)});
    maker.node("RightBackward0", {1}, {memory(2), memory(3)});
    maker.node("RootBackward0", {3, 4}, {});
    maker.label(memory(3), 5, Category::parameter, "weight");
    return Graph(test::trace_of_sizes({1, 10, 100, 1000}), std::move(maker.tables));
}

TEST(GraphState, ComputesRetainedAndShallowBytes) {
    const Graph graph = diamond();
    const GraphState time_point = graph.at(10);
    EXPECT_EQ(time_point.roots(), (Nodes{5}));
    EXPECT_EQ(time_point.alive_nodes(), 6);
    EXPECT_EQ(time_point.reachable_bytes(), 111) << "the weight is not the graph's";
    EXPECT_EQ(time_point.shallow_bytes(3), 110);
    EXPECT_EQ(time_point.shallow_bytes(4), 100);
    EXPECT_EQ(time_point.retained_bytes(5), 111);
    EXPECT_EQ(time_point.retained_bytes(4), 0) << "what it saved, left saved too";
    EXPECT_EQ(time_point.retained_bytes(3), 0);
    EXPECT_EQ(time_point.retained_bytes(1), 1) << "left holds 10 as well";
    EXPECT_EQ(time_point.dominator(1), 5u);
    EXPECT_EQ(time_point.dominator(0), 1u);
    EXPECT_EQ(time_point.dominator(2), 3u);
    EXPECT_EQ(time_point.dominator(5), no_node);
    EXPECT_EQ(time_point.retainers(memory(2)).size(), 2u);
}

TEST(GraphState, SummarizesReachableNodesAndFindsPaths) {
    const Graph graph = diamond();
    const GraphState time_point = graph.at(10);
    const RootSummary summary = time_point.summary(5);
    EXPECT_EQ(summary.nodes, 6);
    EXPECT_EQ(summary.reachable_bytes, 111);
    EXPECT_EQ(summary.retained_bytes, 111);
    EXPECT_FALSE(summary.was_run);
    const Nodes path = time_point.path_to(0);
    ASSERT_EQ(path.size(), 4u);
    EXPECT_EQ(path.front(), 5u);
    EXPECT_EQ(path[2], 1u);
    EXPECT_EQ(path.back(), 0u);
}

TEST(GraphState, ReleasedNodesRetainOnlyTheirChildren) {
    GraphMaker maker;
    maker.node("A", {}, {memory(0)});
    maker.node("B", {0}, {memory(1)}, {0, 20, 20, 40});
    const Graph graph(test::trace_of_sizes({1, 10}), std::move(maker.tables));
    EXPECT_EQ(graph.index.state(1, 19), NodeState::pending);
    EXPECT_EQ(graph.index.state(1, 20), NodeState::released);
    EXPECT_EQ(graph.index.state(1, 40), NodeState::dead);
    EXPECT_EQ(graph.at(10).retained_bytes(1), 11);
    EXPECT_EQ(graph.at(20).shallow_bytes(1), 0);
    EXPECT_EQ(graph.at(20).retained_bytes(1), 1);
    EXPECT_TRUE(graph.at(20).summary(1).was_run);
    EXPECT_EQ(graph.at(40).roots(), (Nodes{0}));
    EXPECT_FALSE(graph.at(40).is_alive(1));
    EXPECT_TRUE(graph.at(40).path_to(1).empty());
}

TEST(GraphState, ExcludesFreedMemory) {
    Trace trace = test::hand_made_trace();  // allocation 1 lives from event 1 to 3
    GraphMaker maker;
    maker.node("A", {}, {memory(1)});
    const Graph graph(std::move(trace), std::move(maker.tables));
    EXPECT_EQ(graph.at(999).reachable_bytes(), 0);
    EXPECT_EQ(graph.at(1000).reachable_bytes(), 1024);
    EXPECT_EQ(graph.at(2999).reachable_bytes(), 1024);
    EXPECT_EQ(graph.at(3000).reachable_bytes(), 0);
}

TEST(GraphState, TerminatesOnDamagedGraphsWithCycles) {
    GraphMaker maker;
    maker.node("A", {1}, {memory(0)});
    maker.node("B", {0}, {memory(1)});
    maker.node("C", {2, 1}, {memory(2)});
    const Graph graph(test::trace_of_sizes({1, 10, 100}), std::move(maker.tables));
    const GraphState time_point = graph.at(10);
    EXPECT_TRUE(time_point.roots().empty());
    EXPECT_EQ(time_point.reachable_bytes(), 111);
    EXPECT_EQ(time_point.parents_first().size(), 3u);
    for (NodeIndex node = 0; node < 3; ++node) {
        EXPECT_FALSE(time_point.path_to(node).empty());
        EXPECT_EQ(time_point.summary(node).reachable_bytes >= time_point.shallow_bytes(node), true);
        time_point.freed_by(node);
    }
    const std::vector<Held> held{{{0}, {}}};
    EXPECT_EQ(time_point.reachable_from(held)[0].bytes, 11);
}

/// What is reached from `from`, without stepping on `without`.
std::set<NodeIndex> reached(const Graph& graph, const GraphState& time_point, const Nodes& from, NodeIndex without) {
    std::set<NodeIndex> seen;
    Nodes open = from;
    while (!open.empty()) {
        const NodeIndex node = open.back();
        open.pop_back();
        if (node == without || !time_point.is_alive(node) || !seen.insert(node).second) {
            continue;
        }
        for (const NodeIndex child : graph.index.children(node)) {
            open.push_back(child);
        }
    }
    return seen;
}

int64_t bytes_of(const Graph& graph, const GraphState& time_point, const std::set<NodeIndex>& nodes) {
    const auto& all = graph.index.trace().devices[0].allocations;
    int64_t bytes = 0;
    for (AllocationIndex a = 0; a < all.size(); ++a) {
        const auto retainers = time_point.retainers({0, a});
        const bool kept = std::any_of(retainers.begin(), retainers.end(),
                                      [&](uint32_t s) { return nodes.contains(graph.index.saver(s)); });
        const bool outside = graph.categories.at({0, a}, time_point.time()) == Category::parameter;
        bytes += kept && !outside ? static_cast<int64_t>(all.block_size[a]) : 0;
    }
    return bytes;
}

class RandomGraph : public testing::TestWithParam<int> {
protected:
    Graph make() {
        constexpr uint32_t memories = 40;
        std::vector<uint64_t> sizes(memories);
        for (uint64_t& size : sizes) {
            size = 1 + below(1000);
        }
        GraphMaker maker;
        const uint32_t nodes = 20 + below(60), reach = 1 + below(20);
        for (uint32_t n = 0; n < nodes; ++n) {
            Nodes children;
            std::vector<AllocationRef> saved;
            for (uint32_t i = below(4); n > 0 && i > 0; --i) {
                children.push_back(n - 1 - below(std::min(n, reach)));
            }
            for (uint32_t i = below(3); i > 0; --i) {
                saved.push_back(below(10) == 0 ? AllocationRef{} : memory(below(memories)));
            }
            GraphMaker::Lifetime lifetime;
            lifetime.released = below(8) == 0 ? 5 : never_happened;
            lifetime.destroyed = below(12) == 0 ? 5 : never_happened;
            lifetime.created = below(12) == 0 ? 20 : 0;
            maker.node("N", children, saved, lifetime);
        }
        for (uint32_t m = 0; m < memories; m += 7) {
            maker.label(memory(m), 0, Category::parameter);
        }
        return Graph(test::trace_of_sizes(sizes), std::move(maker.tables));
    }
    uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

    std::mt19937 random_{static_cast<uint32_t>(GetParam())};
};

TEST_P(RandomGraph, RetainedBytesAreFreedIfTheNodeIsRemoved) {
    const Graph graph = make();
    const GraphState time_point = graph.at(10);
    const auto all = reached(graph, time_point, time_point.roots(), no_node);
    EXPECT_EQ(static_cast<int64_t>(all.size()), time_point.alive_nodes());
    EXPECT_EQ(bytes_of(graph, time_point, all), time_point.reachable_bytes());
    for (NodeIndex node = 0; node < graph.index.tables().nodes.size(); ++node) {
        if (!time_point.is_alive(node)) {
            EXPECT_EQ(time_point.retained_bytes(node), 0);
            EXPECT_EQ(time_point.shallow_bytes(node), 0);
            continue;
        }
        const auto left = reached(graph, time_point, time_point.roots(), node);
        const int64_t gone = bytes_of(graph, time_point, all) - bytes_of(graph, time_point, left);
        EXPECT_EQ(time_point.retained_bytes(node), gone) << node;
        const Reachable freed = time_point.freed_by(node);
        EXPECT_EQ(freed.freed_bytes, gone) << node;
        EXPECT_EQ(freed.freed_nodes, static_cast<int64_t>(all.size() - left.size())) << node;
        EXPECT_EQ(time_point.shallow_bytes(node), bytes_of(graph, time_point, {node})) << node;
        if (const NodeIndex above = time_point.dominator(node); above != no_node) {
            EXPECT_FALSE(reached(graph, time_point, time_point.roots(), above).contains(node));
        }
        EXPECT_EQ(time_point.summary(node).reachable_bytes,
                  bytes_of(graph, time_point, reached(graph, time_point, {node}, no_node)));
        const Nodes path = time_point.path_to(node);
        EXPECT_TRUE(std::count(time_point.roots().begin(), time_point.roots().end(), path.front()));
        EXPECT_EQ(path.back(), node);
        for (size_t i = 1; i < path.size(); ++i) {
            const auto children = graph.index.children(path[i - 1]);
            EXPECT_TRUE(std::count(children.begin(), children.end(), path[i]));
        }
    }
}

TEST_P(RandomGraph, ReferrersReachAndFreeTheBytesOfTheDefinition) {
    const Graph graph = make();
    const GraphState time_point = graph.at(10);
    std::vector<Held> referrers(70);  // more than go into one batch
    for (size_t r = 0; r < time_point.roots().size(); ++r) {
        if (r % 5 != 4) {
            referrers[(r * 23) % referrers.size()].nodes.push_back(time_point.roots()[r]);
        }
    }
    referrers[3].allocations.push_back(memory(1));
    const auto kept = time_point.reachable_from(referrers);
    const auto all = reached(graph, time_point, time_point.roots(), no_node);
    for (size_t h = 0; h < referrers.size(); ++h) {
        const auto own = reached(graph, time_point, referrers[h].nodes, no_node);
        Nodes others;
        std::copy_if(time_point.roots().begin(), time_point.roots().end(), std::back_inserter(others), [&](NodeIndex root) {
            return !std::count(referrers[h].nodes.begin(), referrers[h].nodes.end(), root);
        });
        const auto left = reached(graph, time_point, others, no_node);
        EXPECT_EQ(kept[h].nodes, static_cast<int64_t>(own.size()));
        EXPECT_EQ(kept[h].freed_nodes, static_cast<int64_t>(all.size() - left.size()));
        if (h != 3) {
            EXPECT_EQ(kept[h].bytes, bytes_of(graph, time_point, own));
            const bool memory_1_is_shared = !time_point.retainers(memory(1)).empty();
            if (!memory_1_is_shared) {
                EXPECT_EQ(kept[h].freed_bytes,
                          bytes_of(graph, time_point, all) - bytes_of(graph, time_point, left));
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Many, RandomGraph, testing::Range(0, 60));

}  // namespace
}  // namespace tidemark
