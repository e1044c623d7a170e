// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/learned_ops.h"

#include <gtest/gtest.h>

namespace tidemark::plugin {

namespace {

PlaceKeys place(uint32_t node_type, uint32_t stack, uint16_t lines, uint16_t position, uint8_t action = 0) {
    return PlaceKeys::of({node_type, {stack, 1, lines}, action, position});
}

TEST(LearnedOps, KnowsTheOpOfThePlace) {
    LearnedOps ops;
    ops.learn(place(1, 10, 7, 0), 100);
    ops.learn(place(1, 10, 7, 1), 101);
    ops.learn(place(1, 10, 7, 0, 2), 102);
    for (int pass = 0; pass < 3; ++pass) {
        EXPECT_EQ(ops.find(place(1, 10, 7, 0)).op, 100u);
        EXPECT_EQ(ops.find(place(1, 10, 7, 1)).op, 101u);
        EXPECT_EQ(ops.find(place(1, 10, 7, 0, 2)).op, 102u);
    }
    EXPECT_EQ(ops.find(place(1, 10, 7, 1)).op, 101u) << "not in the order in which they were learned";
}

TEST(LearnedOps, DoesNotKnowOtherPlaces) {
    LearnedOps ops;
    ops.learn(place(1, 10, 7, 0), 100);
    EXPECT_FALSE(ops.find(place(2, 10, 7, 0)).is_known) << "another node";
    EXPECT_FALSE(ops.find(place(1, 11, 8, 0)).is_known) << "another line";
    EXPECT_FALSE(ops.find(place(1, 10, 7, 1)).is_known) << "the second allocation";
    EXPECT_FALSE(ops.find(place(1, 10, 7, 0, 1)).is_known) << "a free";
    ops.clear();
    EXPECT_FALSE(ops.find(place(1, 10, 7, 0)).is_known);
}

TEST(LearnedOps, TheFirstExecutionMayDiffer) {
    LearnedOps ops;
    for (const uint32_t op : {100u, 101u, 101u}) {
        ops.learn(place(1, 10, 7, 0), op);
    }
    EXPECT_EQ(ops.find(place(1, 10, 7, 0)).op, 101u);
}

TEST(LearnedOps, OfAPlaceWhoseOpChangesTheyKnowNone) {
    LearnedOps ops;
    for (const uint32_t op : {100u, 101u, 100u, 100u}) {
        ops.learn(place(1, 10, 7, 0), op);
    }
    EXPECT_TRUE(ops.find(place(1, 10, 7, 0)).is_known);
    EXPECT_EQ(ops.find(place(1, 10, 7, 0)).op, 0u);
}

TEST(LearnedOps, TheLinesOfANewStackDecide) {
    LearnedOps ops;
    ops.learn(place(1, 10, 7, 0), 100);
    EXPECT_EQ(ops.find(place(1, 12, 7, 0)).op, 100u) << "a module that was created anew";
    for (int pass = 0; pass < 2; ++pass) {
        ops.learn(place(1, 10, 7, 0), 100);
        ops.learn(place(1, 11, 7, 0), 200);
    }
    EXPECT_EQ(ops.find(place(1, 10, 7, 0)).op, 100u) << "two layers of one line differ";
    EXPECT_EQ(ops.find(place(1, 11, 7, 0)).op, 200u);
    EXPECT_EQ(ops.find(place(1, 12, 7, 0)).op, 0u);
}

TEST(LearnedOps, KnowTheCategoryOfThePlace) {
    LearnedOps ops;
    ops.label(place(1, 10, 7, 0), 3);
    EXPECT_FALSE(ops.find(place(1, 10, 7, 0)).is_known) << "no event was there";
    ops.learn(place(1, 10, 7, 0), 100);
    EXPECT_EQ(ops.find(place(1, 10, 7, 0)).category, 0u);
    ops.label(place(1, 10, 7, 0), 3);
    EXPECT_EQ(ops.find(place(1, 10, 7, 0)).category, 3u);
    EXPECT_EQ(ops.find(place(1, 12, 7, 0)).category, 3u) << "a module that was created anew";
    ops.learn(place(1, 10, 7, 0), 100);
    EXPECT_EQ(ops.find(place(1, 10, 7, 0)).category, 0u) << "the op freed this one, so that it got none";
}

}  // namespace

}  // namespace tidemark::plugin
