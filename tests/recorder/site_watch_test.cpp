// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which allocation sites count as growing, and when the recorder requests a heap scan for them.
#include "recorder/daemon/site_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "tests/recorder/recording_fixture.h"
#include "tests/recorder/simulated_program.h"

namespace tidemark::test {
namespace {

using recorder::SiteWatch;

constexpr uint64_t mib = 1 << 20;
constexpr uint32_t leaking = 7, passing = 8;

class Sites : public testing::Test {
protected:
    void allocate(uint64_t address, uint32_t site, uint64_t bytes) {
        watch_.allocated(site, bytes);
        blocks_[address] = {{address, site, next_age_++}, bytes};
    }
    void free(uint64_t address) {
        const auto block = blocks_.extract(address);
        watch_.freed(block.mapped().first.site, block.mapped().second);
    }
    std::vector<uint64_t> growing_blocks(size_t most) const {
        return watch_.growing_blocks(most, [this](const SiteWatch::VisitBlock& visit) {
            for (const auto& [address, block] : blocks_) {
                visit(block.first);
            }
        });
    }
    /// An iteration that keeps one block and frees many.
    void iterate(uint64_t kept_bytes) {
        for (uint64_t i = 0; i < 10; ++i) {
            allocate(0x100 + i, passing, 20 * mib);
        }
        if (kept_bytes > 0) {
            allocate(next_ += 0x1000, leaking, kept_bytes);
        }
        for (uint64_t i = 0; i < 10; ++i) {
            free(0x100 + i);
        }
    }
    int scans_in(int periods, uint64_t kept_bytes, int every = 1) {
        int scans = 0;
        for (int i = 0; i < periods; ++i) {
            iterate(i % every == 0 ? kept_bytes : 0);
            watch_.end_period();
            if (watch_.wants_scan()) {
                ++scans;
                watch_.scanned();
            }
        }
        return scans;
    }

    SiteWatch watch_;
    std::map<uint64_t, std::pair<SiteWatch::Block, uint64_t>> blocks_;  ///< with their bytes, by address
    int64_t next_age_ = 0;
    uint64_t next_ = 0x10000;
};

TEST_F(Sites, MemoryOfIterationsDoesNotGrow) { EXPECT_EQ(0, scans_in(1000, 0)); }

TEST_F(Sites, GrowthIsScannedSoonAndThenAtGrowingIntervals) {
    EXPECT_EQ(1, scans_in(5, mib));
    EXPECT_EQ(5U, growing_blocks(100).size());
    const int later = scans_in(95, mib);
    EXPECT_GE(later, 4);
    EXPECT_LE(later, 6);
}

TEST_F(Sites, LayersOfASlowFirstIterationDoNotGrow) {
    const auto layer = [this](uint64_t number) {
        allocate(0x1000 * (1 + number), leaking, 20 * mib);
        watch_.end_period();
        return watch_.wants_scan();
    };
    for (uint64_t i = 0; i < 15; ++i) {
        EXPECT_FALSE(layer(i));
    }
    for (uint64_t i = 0; i < 15; ++i) {
        free(0x1000 * (1 + i));
    }
    EXPECT_EQ(1, scans_in(6, mib)) << "the backward pass has freed them";
}

TEST_F(Sites, GrowthWithoutIterationsIsScannedAfterAWhile) {
    int scans = 0;
    for (uint64_t i = 0; i < 30; ++i) {
        allocate(0x1000 * (1 + i), leaking, mib);
        watch_.end_period();
        scans += watch_.wants_scan();
        EXPECT_EQ(scans > 0, i > 20) << i;
    }
}

TEST_F(Sites, SlowGrowthIsSeen) { EXPECT_GE(scans_in(1000, mib, 200), 1); }

TEST_F(Sites, SmallGrowthIsNotWorthAScan) { EXPECT_EQ(0, scans_in(100, 512)); }

TEST_F(Sites, OneBlockThatIsReplacedByALargerOneGrows) {
    int scans = 0;
    for (uint64_t size = 1; size < 20; ++size) {
        allocate(next_ + size, leaking, size * mib);
        if (size > 1) {
            free(next_ + size - 1);
        }
        watch_.end_period();
        scans += watch_.wants_scan();
    }
    EXPECT_GT(scans, 0);
    EXPECT_EQ((std::vector{next_ + 19}), growing_blocks(100));
}

TEST_F(Sites, WhatFallsBackDoesNotGrow) {
    for (int saw = 0; saw < 10; ++saw) {
        for (uint64_t i = 0; i < 2; ++i) {
            allocate(next_ + i, leaking, mib);
            watch_.end_period();
        }
        free(next_);
        free(next_ + 1);
        watch_.end_period();
        EXPECT_FALSE(watch_.wants_scan());
    }
}

TEST_F(Sites, BlocksAreSampledEvenly) {
    scans_in(100, mib);
    const auto some = growing_blocks(10);
    ASSERT_EQ(10U, some.size());
    EXPECT_EQ(0x11000U, some[0]);
    EXPECT_EQ(0x11000U + 90 * 0x1000, some[9]);
}

TEST_F(Sites, ManyBlocksAreSampledEvenly) {
    constexpr uint64_t most = 10, blocks_a_period = 10'000;
    for (int period = 0; period < 10; ++period) {
        for (uint64_t i = 0; i < blocks_a_period; ++i) {
            allocate(next_ += 0x1000, leaking, 512);
        }
        iterate(0);
        watch_.end_period();
    }
    const auto some = growing_blocks(most);
    ASSERT_EQ(most, some.size());
    for (size_t i = 0; i < some.size(); ++i) {
        EXPECT_NEAR(static_cast<double>(0x11000 + i * blocks_a_period * 0x1000), static_cast<double>(some[i]),
                    blocks_a_period * 0x1000 / 20.0);
    }
}

using ScanRequests = Recording;

template <class Condition>
bool holds_soon(Condition condition) {
    for (int i = 0; i < 500 && !condition(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
}

TEST_F(ScanRequests, TheProgramGetsTheBlocksThatGrow) {
    SimulatedProgram program({});
    ASSERT_TRUE(program.start_recorder(output_, ::getpid())) << program.failure();
    SimulatedThread main(program, 1, 100);
    SimulatedAllocator allocator(0);
    allocator.report_state(main, TIDEMARK_STATE_START);
    const EventContext line{main.stack({{"train", 12}})}, other{main.stack({{"forward", 3}})};
    const auto& header = program.region().header();
    uint64_t first = 0;
    const auto grow = [&] {
        const uint64_t passing_block = allocator.allocate(main, 4 * mib, other);
        const uint64_t kept = allocator.allocate(main, mib, line);
        first = first == 0 ? kept : first;
        allocator.free(main, passing_block);
        std::this_thread::sleep_for(std::chrono::milliseconds(110));
    };
    ASSERT_TRUE(holds_soon([&] {
        grow();
        return header.scans_wanted.load() == 1;
    }));
    EXPECT_GE(header.growing_blocks.load(), 3U);
    EXPECT_EQ(first, header.growing[0].load());
    for (int i = 0; i < 10; ++i) {
        grow();
    }
    EXPECT_EQ(1U, header.scans_wanted.load()) << "the scan was not made yet";
    main.heap_scan("allocation sites grow", 1, 1);
    EXPECT_TRUE(holds_soon([&] {
        grow();
        return header.scans_wanted.load() == 2;
    }));
    main.end(TIDEMARK_END_STOPPED);
    ASSERT_TRUE(program.wait_for(RecorderState::finished)) << program.failure();
}

}  // namespace
}  // namespace tidemark::test
