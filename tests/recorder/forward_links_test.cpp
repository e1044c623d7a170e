// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/torch/forward_links.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace tidemark::test {
namespace {

using plugin::forward_op;
using plugin::remember_forward_op;
using plugin::StackRef;

TEST(ForwardLinks, RemembersTheLastMillionOpsOfAThread) {
    constexpr int64_t ops = 3'000'000, remembered = 1 << 20;
    for (int64_t i = 0; i < ops; ++i) {
        remember_forward_op(1, i, StackRef{static_cast<uint32_t>(i + 1), 7, 9});
    }
    for (int64_t i = ops - remembered; i < ops; ++i) {
        ASSERT_EQ(i + 1, forward_op(1, i).id);
    }
    EXPECT_EQ(7, forward_op(1, ops - 1).thread);
    EXPECT_EQ(9, forward_op(1, ops - 1).lines);
    EXPECT_EQ(0u, forward_op(1, ops - remembered - 1).id) << "forgotten";
    EXPECT_EQ(0u, forward_op(1, ops).id) << "not yet seen";
    EXPECT_EQ(0u, forward_op(2, ops - 1).id) << "another thread's";
    EXPECT_EQ(0u, forward_op(0, 0).id);
    EXPECT_EQ(0u, forward_op(1, -1).id) << "no node";
}

TEST(ForwardLinks, KnowsTheOpsOfManyThreads) {
    constexpr uint64_t threads = 100'000;
    for (uint64_t thread = 1; thread <= threads; ++thread) {
        for (int64_t i = 0; i < 3; ++i) {
            remember_forward_op(thread, i, StackRef{static_cast<uint32_t>(thread * 3 + i), 1, 0});
        }
    }
    int known = 0;
    for (uint64_t thread = 1; thread <= threads; ++thread) {
        const uint32_t id = forward_op(thread, 1).id;
        EXPECT_TRUE(id == 0 || id == thread * 3 + 1);
        known += id != 0 ? 1 : 0;
    }
    EXPECT_GT(known, 90'000);
}

TEST(ForwardLinks, IsNeverWrongWhileThreadsCollide) {
    constexpr int64_t distance = 1 << 20;  // sequence numbers that share a link
    std::atomic<bool> ends{false};
    const auto write = [&](int64_t sequence) {
        while (!ends) {
            remember_forward_op(200'000, sequence, StackRef{static_cast<uint32_t>(sequence / distance + 1), 0, 0});
        }
    };
    std::thread first(write, 0), second(write, distance);
    for (int i = 0; i < 1'000'000; ++i) {
        const uint32_t id = forward_op(200'000, 0).id;
        ASSERT_TRUE(id == 0 || id == 1) << id;
    }
    ends = true;
    first.join();
    second.join();
}

}  // namespace
}  // namespace tidemark::test
