// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/core/per_thread.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <set>
#include <thread>
#include <vector>

namespace tidemark::test {
namespace {

using recorder::PerThread;

std::atomic<int> created{0};

/// A type of its own for each test, because the spare states of a type belong to the process.
template <int test>
struct Counted {
    Counted() { ++created; }
    int used = 0;
};

TEST(PerThread, AThreadThatEndsLeavesItsStateToTheNext) {
    using State = Counted<0>;
    created = 0;
    for (int i = 0; i < 1000; ++i) {
        std::thread([] { ++PerThread<State>::here().used; }).join();
    }
    EXPECT_EQ(1, created);
    EXPECT_EQ(1000, PerThread<State>::here().used) << "the state comes as it was left";
    EXPECT_EQ(&PerThread<State>::here(), &PerThread<State>::here());
}

TEST(PerThread, ThreadsThatRunTogetherHaveStatesOfTheirOwn) {
    using State = Counted<1>;
    created = 0;
    constexpr int threads = 8;
    std::array<State*, threads> states{};
    for (int round = 0; round < 200; ++round) {
        std::barrier all(threads);
        std::vector<std::thread> running;
        for (int i = 0; i < threads; ++i) {
            running.emplace_back([&, i] {
                states[static_cast<size_t>(i)] = &PerThread<State>::here();
                ++PerThread<State>::here().used;
                all.arrive_and_wait();
            });
        }
        for (std::thread& each : running) {
            each.join();
        }
        EXPECT_EQ(size_t{threads}, std::set(states.begin(), states.end()).size());
    }
    EXPECT_LT(created, 10 * threads) << "instead of 1600; a thread may find the list in the hands of another";
}

/// Such destructors free GPU memory.
TEST(PerThread, DestructorsOfAThreadHaveItsState) {
    using State = Counted<2>;
    created = 0;
    struct Late {
        ~Late() { ++PerThread<State>::here().used; }
    };
    for (int i = 0; i < 100; ++i) {
        std::thread([] {
            thread_local const Late destroyed_last;
            static_cast<void>(destroyed_last);
            ++PerThread<State>::here().used;
        }).join();
    }
    EXPECT_EQ(1, created);
    EXPECT_EQ(200, PerThread<State>::here().used);
}

TEST(PerThread, AForkedChildHasAState) {
    using State = Counted<3>;
    std::atomic<bool> ends{false};
    std::thread busy([&] {
        while (!ends) {
            std::thread([] { ++PerThread<State>::here().used; }).join();
        }
    });
    for (int i = 0; i < 100; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            ++PerThread<State>::here().used;
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(0, status);
    }
    ends = true;
    busy.join();
}

}  // namespace
}  // namespace tidemark::test
