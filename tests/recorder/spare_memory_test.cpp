// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/core/spare_memory.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

namespace tidemark::test {
namespace {

using recorder::SpareMemory;

/// A type of its own for each test, because the spare memory of a type belongs to the process.
template <int test>
struct alignas(16) Object {
    std::array<uint64_t, 6> words;
};

TEST(SpareMemory, ObjectsThatLiveTogetherShareNoMemory) {
    using Own = Object<0>;
    std::set<uintptr_t> taken;
    for (int i = 0; i < 1000; ++i) {
        const auto at = reinterpret_cast<uintptr_t>(SpareMemory<Own>::take());
        EXPECT_EQ(0u, at % alignof(Own));
        const auto next = taken.lower_bound(at);
        EXPECT_TRUE(next == taken.end() || *next >= at + sizeof(Own));
        EXPECT_TRUE(next == taken.begin() || *std::prev(next) + sizeof(Own) <= at);
        taken.insert(at);
    }
    for (const uintptr_t at : taken) {
        SpareMemory<Own>::give(reinterpret_cast<void*>(at));
    }
}

TEST(SpareMemory, WhatOneThreadGivesAnotherTakesAgain) {
    using Own = Object<1>;
    std::set<void*> seen;
    for (int pass = 0; pass < 100; ++pass) {
        std::vector<void*> graph(500);
        for (void*& each : graph) {
            each = SpareMemory<Own>::take();
            seen.insert(each);
        }
        std::thread([&] {
            for (void* each : graph) {
                SpareMemory<Own>::give(each);
            }
        }).join();
    }
    EXPECT_LT(seen.size(), 700u) << "500 objects live at a time, whatever the number of passes";
}

TEST(SpareMemory, ThreadsTakeAndGiveAtTheSameTime) {
    using Own = Object<2>;
    std::vector<std::thread> threads;
    std::array<uint64_t, 4> damaged{};
    for (uint64_t id = 0; id < damaged.size(); ++id) {
        threads.emplace_back([&damaged, id] {
            for (int pass = 0; pass < 300; ++pass) {
                std::vector<Own*> graph(200);
                for (Own*& each : graph) {
                    each = ::new (SpareMemory<Own>::take()) Own;
                    each->words.fill(id);
                }
                for (Own* each : graph) {
                    damaged[id] += each->words.back() != id ? 1 : 0;
                    SpareMemory<Own>::give(each);
                }
            }
        });
    }
    for (std::thread& each : threads) {
        each.join();
    }
    EXPECT_EQ((std::array<uint64_t, 4>{}), damaged);
}

}  // namespace
}  // namespace tidemark::test
