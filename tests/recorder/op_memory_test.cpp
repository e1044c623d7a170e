// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/op_memory.h"

#include <gtest/gtest.h>

namespace tidemark::plugin {

namespace {

constexpr DeviceAddress first{512, 0}, second{1024, 0}, third{2048, 0};

OpMemory with_three_pieces() {
    OpMemory memory;
    for (const DeviceAddress& address : {first, second, third}) {
        memory.allocated({address, {}});
    }
    return memory;
}

TEST(OpMemory, AnOpReturnsWhatItsLastInnerOpReturned) {
    OpMemory memory = with_three_pieces();
    memory.returned(third);
    memory.returned(first);
    const auto last = memory.claim_returned(0);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->memory, first);
    EXPECT_EQ(memory.claim_returned(0)->memory, third);
    EXPECT_FALSE(memory.claim_returned(0)) << "nothing returned the second piece";
}

TEST(OpMemory, ResultsHaveTheOrderOfTheInnerOp) {
    OpMemory memory = with_three_pieces();
    memory.returned(first);
    memory.returned(second);
    memory.returned(third);
    EXPECT_EQ(memory.claim_returned(1)->memory, second);
    EXPECT_EQ(memory.claim_returned(0)->memory, third);
}

TEST(OpMemory, APieceThatIsReturnedAgainIsTheLastOne) {
    OpMemory memory = with_three_pieces();
    memory.returned(first);
    memory.returned(second);
    memory.returned(first);
    EXPECT_EQ(memory.claim_returned(0)->memory, first);
}

TEST(OpMemory, WhatIsFreedOrOfAnotherOpIsNotReturned) {
    OpMemory memory = with_three_pieces();
    memory.returned(second);
    memory.freed(second);
    EXPECT_FALSE(memory.claim_returned(0));
    memory.returned({512, 1});
    EXPECT_FALSE(memory.claim_returned(0)) << "memory of another device";
    memory.returned(first);
    memory.clear();
    memory.allocated({first, {}});
    EXPECT_FALSE(memory.claim_returned(0)) << "the next op";
}

}  // namespace

}  // namespace tidemark::plugin
