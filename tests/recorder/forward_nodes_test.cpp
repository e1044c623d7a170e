// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/forward_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace tidemark::plugin {

namespace {

constexpr uint32_t linear = 1, activation = 2;

PlaceKeys place(uint32_t stack, uint16_t position = 0) {
    return PlaceKeys::of({EventPlace::no_node, {stack, 1, static_cast<uint16_t>(stack)}, 0, position});
}

/// A pass of two ops. The first one creates a node without memory, then one that allocates a workspace and its output;
/// the second one creates a node whose result is allocated. Numbers of nodes and events continue those before.
struct Pass {
    ForwardNodes& nodes;
    int64_t first_node;
    uint64_t first_event;
    uint64_t base = first_event * 1000;

    void allocate(int64_t counter, uint32_t stack, uint16_t position, uint64_t event) const {
        nodes.add({counter, place(stack, position), first_event + event, {base + event, 0}});
    }
    void run(bool is_observed) const {
        nodes.begin(first_node);
        learn(is_observed, first_node, {linear, 10, {100, 1, 1}, {}});
        allocate(first_node + 2, 100, 0, 0);
        allocate(first_node + 2, 100, 1, 1);
        learn(is_observed, first_node + 1, {linear, 11, {100, 1, 1}, DeviceAddress{base + 1, 0}});
        allocate(first_node + 3, 200, 0, 2);
        learn(is_observed, first_node + 2, {activation, 20, {200, 1, 2}, DeviceAddress{base + 2, 0}});
        allocate(first_node + 3, 300, 0, 3);  // belongs to no node
    }
    void learn(bool is_observed, int64_t node, const ForwardNodes::Made& made) const {
        if (is_observed) {
            nodes.learn(node, made);
        }
    }
};

TEST(ForwardNodes, ANodeIsMadeLikeTheOneAtItsPlace) {
    ForwardNodes nodes;
    Pass{nodes, 50, 7}.run(true);
    Pass{nodes, 90, 1000}.run(false);
    const auto view = nodes.find(90, linear), product = nodes.find(91, linear), result = nodes.find(92, activation);
    ASSERT_TRUE(view && product && result);
    EXPECT_EQ(view->op, 10u);
    EXPECT_FALSE(view->output);
    EXPECT_FALSE(nodes.next_event(view->events, 0)) << "no event was before it";
    EXPECT_EQ(product->op, 11u);
    EXPECT_EQ(product->stack.id, 100u);
    EXPECT_EQ(product->output->address, 1'000'001u) << "in this pass, the second allocation of its op";
    EXPECT_EQ(nodes.next_event(product->events, 0), 1002u);
    EXPECT_FALSE(nodes.next_event(product->events, 1)) << "another device had no event";
    EXPECT_EQ(result->op, 20u);
    EXPECT_EQ(result->output->address, 1'000'002u);
    EXPECT_EQ(nodes.next_event(result->events, 0), 1003u) << "not after what followed its op";
}

TEST(ForwardNodes, OtherNodesAreUnknown) {
    ForwardNodes nodes;
    Pass{nodes, 50, 7}.run(true);
    Pass{nodes, 90, 1000}.run(false);
    EXPECT_FALSE(nodes.find(92, linear)) << "of another type";
    EXPECT_FALSE(nodes.find(93, linear)) << "none was there";
    EXPECT_FALSE(nodes.has(89)) << "of the pass before";
    EXPECT_FALSE(nodes.find(89, linear));
    nodes.end();
    EXPECT_FALSE(nodes.find(90, linear)) << "the pass has ended";
    Pass{nodes, 200, 2000}.run(false);
    EXPECT_TRUE(nodes.find(200, linear)) << "what was learned stays";
    nodes.clear();
    EXPECT_FALSE(nodes.find(200, linear));
}

TEST(ForwardNodes, APassThatAllocatesElsewhereHasOtherNodes) {
    ForwardNodes nodes;
    Pass{nodes, 50, 7}.run(true);
    nodes.begin(90);
    nodes.add({90, place(999), 1000, {1, 0}});
    EXPECT_FALSE(nodes.find(90, linear));
}

/// Finding remembers where the last node was, and which one followed it.
TEST(ForwardNodes, NodesAreFoundInAnyOrder) {
    constexpr int64_t count = 60;
    ForwardNodes nodes;
    const auto run = [&](int64_t first, bool is_observed) {
        nodes.begin(first);
        for (int64_t i = 0; i < count; ++i) {
            const auto number = static_cast<uint64_t>(first + i);
            nodes.add({first + i + 1, place(static_cast<uint32_t>(i)), number, {number, 0}});
            if (is_observed) {
                nodes.learn(first + i, {linear, static_cast<uint32_t>(i), {}, DeviceAddress{number, 0}});
            }
        }
    };
    run(0, true);
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random(1);
    for (int64_t pass = 1; pass < 20; ++pass) {
        if (pass == 2) {
            std::reverse(order.begin(), order.end());
        } else if (pass > 4) {
            std::shuffle(order.begin(), order.end(), random);
        }
        run(pass * 1000, pass == 10);
        for (const int64_t node : order) {
            const auto found = nodes.find(pass * 1000 + node, linear);
            ASSERT_TRUE(found) << node;
            EXPECT_EQ(found->op, static_cast<uint32_t>(node));
            EXPECT_EQ(found->output->address, static_cast<uint64_t>(pass * 1000 + node));
        }
    }
}

TEST(ForwardNodes, AStepThatIsReportedTwiceBeginsOnce) {
    ForwardNodes nodes;
    nodes.begin(50);
    EXPECT_TRUE(nodes.is_at_begin(50));
    EXPECT_FALSE(nodes.is_at_begin(51)) << "a node was created";
    nodes.add({50, place(1), 1, {1, 0}});
    EXPECT_FALSE(nodes.is_at_begin(50));
}

}  // namespace

}  // namespace tidemark::plugin
