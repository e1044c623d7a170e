// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Tests the allocator model rule by rule, on simulated memory.
#include <gtest/gtest.h>

#include "storage/whatif/caching_allocator.h"
#include "storage/whatif/simulated_driver.h"

namespace tidemark {
namespace {

constexpr uint64_t KiB = 1 << 10, MiB = 1 << 20, GiB = 1 << 30;
constexpr int64_t unlimited = -1;

struct Simulation {
    explicit Simulation(const AllocatorSettings& settings = {}, int64_t capacity = unlimited)
        : driver({}, capacity),
          allocator(settings, driver, 80 * GiB, capacity < 0 ? 0 : static_cast<uint64_t>(capacity)) {}

    BlockIndex get(uint64_t bytes, uint32_t stream = 0, uint32_t pool = 0) {
        return allocator.allocate({bytes, pool, stream, no_allocation, false});
    }
    void free(BlockIndex b) {
        allocator.request_free(b);
        allocator.complete_free(b);
    }
    uint64_t address(BlockIndex b) { return allocator.block(b).address; }
    uint64_t size(BlockIndex b) { return allocator.block(b).size; }
    uint64_t reserved() { return static_cast<uint64_t>(allocator.figures().reserved); }

    SimulatedDriver driver;
    CachingAllocator allocator;
};

AllocatorSettings expandable() {
    AllocatorSettings settings;
    settings.expandable_segments = true;
    return settings;
}

AllocatorSettings split_below(uint64_t bytes) {
    AllocatorSettings settings;
    settings.max_split_size = bytes;
    return settings;
}

TEST(WhatIfRules, ReservesSegmentsInThreeSizeClasses) {
    const auto reserved_for = [](uint64_t bytes) {
        Simulation simulation;
        simulation.get(bytes);
        return simulation.reserved();
    };
    EXPECT_EQ(reserved_for(1), 2 * MiB);
    EXPECT_EQ(reserved_for(MiB), 2 * MiB);
    EXPECT_EQ(reserved_for(MiB + 1), 20 * MiB);
    EXPECT_EQ(reserved_for(10 * MiB - 512), 20 * MiB);
    EXPECT_EQ(reserved_for(10 * MiB), 10 * MiB);
    EXPECT_EQ(reserved_for(10 * MiB + 1), 12 * MiB);
}

TEST(WhatIfRules, SeparatesSmallAndLargeRequests) {
    Simulation simulation;
    simulation.get(2 * MiB);
    simulation.get(1 * MiB);
    EXPECT_EQ(simulation.reserved(), 22 * MiB);
}

TEST(WhatIfRules, TakesTheSmallestThenTheLowestFreeBlock) {
    Simulation simulation;
    const BlockIndex large = simulation.get(100 * MiB), a = simulation.get(50 * MiB), b = simulation.get(50 * MiB);
    const uint64_t lower = std::min(simulation.address(a), simulation.address(b));
    simulation.free(large);
    simulation.free(b);
    simulation.free(a);
    EXPECT_EQ(simulation.address(simulation.get(50 * MiB)), lower);
}

TEST(WhatIfRules, KeepsRemaindersUpToOneMiBInLargeBlocks) {
    Simulation simulation;
    simulation.free(simulation.get(20 * MiB));
    EXPECT_EQ(simulation.size(simulation.get(19 * MiB)), 20 * MiB);
}

TEST(WhatIfRules, MergesAdjacentFreeBlocks) {
    Simulation simulation;
    const BlockIndex a = simulation.get(6 * MiB), b = simulation.get(6 * MiB), c = simulation.get(6 * MiB);
    const uint64_t start = simulation.address(a);
    simulation.free(a);
    simulation.free(c);
    simulation.free(b);
    const BlockIndex whole = simulation.get(20 * MiB);
    EXPECT_EQ(simulation.address(whole), start);
    EXPECT_EQ(simulation.reserved(), 20 * MiB);
}

TEST(WhatIfRules, SeparatesStreamsAndPools) {
    Simulation simulation;
    simulation.free(simulation.get(20 * MiB, 0));
    simulation.get(20 * MiB, 1);
    simulation.get(20 * MiB, 0, 3);
    EXPECT_EQ(simulation.reserved(), 60 * MiB);
}

TEST(WhatIfRules, DoesNotReusePendingBlocks) {
    Simulation simulation;
    const BlockIndex b = simulation.get(20 * MiB);
    simulation.allocator.request_free(b);
    EXPECT_EQ(simulation.allocator.figures().allocated, 0);
    simulation.get(20 * MiB);
    EXPECT_EQ(simulation.reserved(), 40 * MiB);
}

TEST(WhatIfRules, ReleasesCachedSegmentsOfThePoolInEmptyCache) {
    Simulation simulation;
    simulation.free(simulation.get(30 * MiB));
    simulation.get(6 * MiB);
    simulation.free(simulation.get(6 * MiB));
    simulation.free(simulation.get(40 * MiB, 0, 1));
    simulation.allocator.release_cached({0});
    EXPECT_EQ(simulation.reserved(), (30 + 40) * MiB)
        << "6 of the 30 MiB are in use; the 40 MiB belong to a private pool";
    simulation.allocator.release_cached({1});
    EXPECT_EQ(simulation.reserved(), 30 * MiB);
}

TEST(WhatIfRules, ReleasesCachedMemoryAndRetriesWhenRefused) {
    Simulation simulation({}, 100 * MiB);
    const BlockIndex kept = simulation.get(40 * MiB);
    simulation.free(simulation.get(50 * MiB));
    const BlockIndex b = simulation.get(60 * MiB);
    ASSERT_NE(b, no_block);
    EXPECT_NE(kept, b);
    EXPECT_EQ(simulation.reserved(), 100 * MiB);
    EXPECT_EQ(simulation.allocator.figures().retries, 1);
    EXPECT_EQ(simulation.allocator.figures().returned_memory, static_cast<int64_t>(50 * MiB));
}

TEST(WhatIfRules, CompletesPendingFreesInARetry) {
    Simulation simulation({}, 100 * MiB);
    simulation.allocator.request_free(simulation.get(80 * MiB));
    EXPECT_NE(simulation.get(60 * MiB), no_block);
    EXPECT_EQ(simulation.reserved(), 60 * MiB);
}

TEST(WhatIfRules, FailsWhenRefusedTwice) {
    Simulation simulation({}, 100 * MiB);
    const BlockIndex b = simulation.get(60 * MiB);
    EXPECT_EQ(simulation.get(60 * MiB), no_block);
    simulation.free(b);
    EXPECT_NE(simulation.get(90 * MiB), no_block);
}

TEST(WhatIfRules, ReleasesNothingDuringGraphCapture) {
    Simulation simulation({}, 100 * MiB);
    simulation.free(simulation.get(80 * MiB));
    EXPECT_EQ(simulation.allocator.allocate({60 * MiB, 1, 0, no_allocation, true}), no_block);
    EXPECT_EQ(simulation.reserved(), 80 * MiB);
}

TEST(WhatIfRules, NeverSplitsOversizeBlocks) {
    Simulation simulation(split_below(64 * MiB));
    simulation.free(simulation.get(100 * MiB));
    EXPECT_EQ(simulation.size(simulation.get(90 * MiB)), 100 * MiB) << "blocks up to 20 MiB larger are used whole";
    simulation.free(simulation.get(200 * MiB));
    simulation.get(150 * MiB);
    EXPECT_EQ(simulation.reserved(), 450 * MiB) << "a block 50 MiB larger is not used";
}

TEST(WhatIfRules, DoesNotServeSmallerRequestsFromOversizeBlocks) {
    Simulation simulation(split_below(64 * MiB));
    simulation.free(simulation.get(100 * MiB));
    simulation.get(30 * MiB);
    EXPECT_EQ(simulation.reserved(), 130 * MiB);
}

TEST(WhatIfRules, ReleasesOversizeBlocksFirstWhenRefused) {
    Simulation simulation(split_below(64 * MiB), 400 * MiB);
    const BlockIndex a = simulation.get(100 * MiB), b = simulation.get(140 * MiB), c = simulation.get(30 * MiB);
    simulation.free(a);
    simulation.free(b);
    simulation.free(c);
    EXPECT_NE(simulation.get(200 * MiB), no_block);
    EXPECT_EQ(simulation.reserved(), 230 * MiB) << "200 MiB need both oversize blocks; the third block stays";
    EXPECT_EQ(simulation.allocator.figures().retries, 0);
}

TEST(WhatIfRules, ReleasesTheLargestOversizeBlocksUntilTheyShouldSuffice) {
    Simulation simulation(split_below(64 * MiB), 400 * MiB);
    const BlockIndex a = simulation.get(80 * MiB), b = simulation.get(120 * MiB), c = simulation.get(140 * MiB);
    simulation.free(a);
    simulation.free(b);
    simulation.free(c);
    EXPECT_NE(simulation.get(250 * MiB), no_block);
    EXPECT_EQ(simulation.reserved(), (80 + 250) * MiB);
}

TEST(WhatIfRules, ReleasesOneOversizeBlockIfItSuffices) {
    Simulation simulation(split_below(64 * MiB), 400 * MiB);
    const BlockIndex a = simulation.get(300 * MiB), b = simulation.get(80 * MiB);
    simulation.free(a);
    simulation.free(b);
    EXPECT_NE(simulation.get(200 * MiB), no_block);
    EXPECT_EQ(simulation.reserved(), 280 * MiB);
}

TEST(WhatIfRules, RoundsUpByDivisions) {
    AllocatorSettings settings;
    settings.roundup_divisions.fill(4);
    Simulation simulation(settings);
    EXPECT_EQ(simulation.size(simulation.get(33 * MiB)), 40 * MiB);
}

TEST(WhatIfRules, CollectsTheOldestCachedSegments) {
    AllocatorSettings settings;
    settings.garbage_collection_threshold = 0.5;
    Simulation simulation(settings, 400 * MiB);
    const BlockIndex old = simulation.get(60 * MiB), young = simulation.get(70 * MiB);
    simulation.free(old);
    const BlockIndex kept = simulation.get(80 * MiB);
    simulation.free(young);
    EXPECT_EQ(simulation.reserved(), 210 * MiB);
    simulation.get(90 * MiB);
    EXPECT_EQ(simulation.reserved(), (70 + 80 + 90) * MiB)
        << "210 MiB exceed half of 400 MiB, so the oldest 60 MiB are freed";
    EXPECT_EQ(simulation.size(kept), 80 * MiB);
}

TEST(WhatIfRules, DoesNotCollectBelowTheThreshold) {
    AllocatorSettings settings;
    settings.garbage_collection_threshold = 0.5;
    Simulation simulation(settings, 400 * MiB);
    simulation.free(simulation.get(60 * MiB));
    simulation.get(90 * MiB);
    EXPECT_EQ(simulation.reserved(), 150 * MiB);
}

TEST(WhatIfRules, MapsExpandableMemoryInPortions) {
    Simulation simulation(expandable());
    simulation.get(100);
    EXPECT_EQ(simulation.reserved(), 2 * MiB);
    const BlockIndex a = simulation.get(30 * MiB);
    EXPECT_EQ(simulation.reserved(), 42 * MiB);
    const BlockIndex b = simulation.get(30 * MiB);
    EXPECT_EQ(simulation.reserved(), 62 * MiB) << "10 MiB were left of the first 40";
    EXPECT_EQ(simulation.address(b), simulation.address(a) + 30 * MiB);
}

TEST(WhatIfRules, ReusesExpandableMemoryForOtherSizes) {
    const auto reserved_with = [](const AllocatorSettings& settings) {
        Simulation simulation(settings);
        for (uint64_t size = 40; size <= 100; size += 20) {
            simulation.free(simulation.get(size * MiB));
        }
        return simulation.reserved();
    };
    EXPECT_EQ(reserved_with({}), (40 + 60 + 80 + 100) * MiB);
    EXPECT_EQ(reserved_with(expandable()), 100 * MiB);
}

TEST(WhatIfRules, UnmapsOnlyFreePortions) {
    Simulation simulation(expandable());
    const BlockIndex a = simulation.get(30 * MiB), b = simulation.get(30 * MiB);
    simulation.free(a);
    simulation.allocator.release_cached({0});
    EXPECT_EQ(simulation.reserved(), 40 * MiB) << "the free 30 MiB contain one whole portion of 20 MiB";
    simulation.free(b);
    simulation.allocator.release_cached({0});
    EXPECT_EQ(simulation.reserved(), 0u);
}

TEST(WhatIfRules, MapsGapsAgainFromTheLowestAddress) {
    Simulation simulation(expandable());
    const BlockIndex a = simulation.get(40 * MiB), b = simulation.get(40 * MiB);
    const uint64_t start = simulation.address(a);
    simulation.free(a);
    simulation.allocator.release_cached({0});
    EXPECT_EQ(simulation.address(simulation.get(20 * MiB)), start);
    EXPECT_EQ(simulation.address(simulation.get(60 * MiB)), simulation.address(b) + 40 * MiB)
        << "the rest of the gap is too small";
}

TEST(WhatIfRules, KeepsFreeMemoryNextToUnmappedPortions) {
    Simulation simulation(expandable());
    const BlockIndex a = simulation.get(30 * MiB), b = simulation.get(60 * MiB);
    simulation.get(30 * MiB);
    const uint64_t start = simulation.address(a);
    simulation.free(b);
    simulation.allocator.release_cached({0});
    EXPECT_EQ(simulation.reserved(), (120 - 40) * MiB) << "free from 30 to 90 MiB; whole portions from 40 to 80 MiB";
    EXPECT_EQ(simulation.address(simulation.get(10 * MiB)), start + 80 * MiB) << "the free block below can grow";
    EXPECT_EQ(simulation.address(simulation.get(10 * MiB)), start + 30 * MiB);
    EXPECT_EQ(simulation.address(simulation.get(40 * MiB)), start + 40 * MiB);
    EXPECT_EQ(simulation.reserved(), 120 * MiB);
}

TEST(WhatIfRules, PrefersGapsToTheGrowingEnd) {
    Simulation simulation(expandable());
    const BlockIndex a = simulation.get(60 * MiB), b = simulation.get(30 * MiB);
    const uint64_t gap = simulation.address(a);
    simulation.free(a);
    // Free memory: a gap of 60 MiB, and 10 MiB at the end that can grow.
    EXPECT_EQ(simulation.address(simulation.get(8 * MiB)), gap);
    EXPECT_EQ(simulation.size(b), 30 * MiB);
}

TEST(WhatIfRules, DoesNotReuseExpandableMemoryOnceSwitchedOff) {
    Simulation simulation(expandable());
    simulation.free(simulation.get(20 * MiB));
    simulation.allocator.set_expandable(false);
    simulation.get(20 * MiB);
    EXPECT_EQ(simulation.reserved(), 40 * MiB);
}

TEST(WhatIfRules, RejectsRequestsLargerThanTheDevice) {
    Simulation simulation(expandable());
    EXPECT_EQ(simulation.get(200 * GiB), no_block);
}

TEST(WhatIfRules, AdoptsMappedMemory) {
    using State = HeapBlock::State;
    Simulation simulation(expandable());
    const SegmentOwner owner{0, 0, true, true};
    const uint64_t base = uint64_t{1} << 40, end = base + simulation.allocator.range_size(owner);
    const auto blocks =
        simulation.allocator.adopt(owner, {{base, 20 * MiB, State::allocated, 0},
                                           {base + 20 * MiB, 20 * MiB, State::unmapped, no_allocation},
                                           {base + 40 * MiB, 15 * MiB, State::pending, 1},
                                           {base + 55 * MiB, 5 * MiB, State::free, no_allocation},
                                           {base + 60 * MiB, end - base - 60 * MiB, State::unmapped, no_allocation}});
    EXPECT_EQ(simulation.reserved(), 40 * MiB);
    EXPECT_EQ(simulation.allocator.figures().allocated, static_cast<int64_t>(20 * MiB));
    EXPECT_EQ(simulation.address(simulation.get(20 * MiB)), base + 20 * MiB);
    simulation.allocator.complete_free(blocks[2]);
    EXPECT_EQ(simulation.address(simulation.get(20 * MiB)), base + 40 * MiB);
    EXPECT_EQ(simulation.reserved(), 60 * MiB);
}

TEST(WhatIfRules, UsesTheRecordedAddressIfItIsFree) {
    SimulatedDriver driver({}, unlimited);
    const SegmentOwner owner{0, 0, true, false};
    const DriverMove recorded{5, 0x7000000000, 20 * MiB, true, owner, 0};
    driver.set_recorded(&recorded);
    EXPECT_EQ(driver.allocate(20 * MiB, owner), 0x7000000000u);
    EXPECT_NE(driver.allocate(20 * MiB, owner), 0x7000000000u) << "taken";
    driver.free(0x7000000000, 20 * MiB);
    EXPECT_NE(driver.allocate(22 * MiB, owner), 0x7000000000u) << "of another size";
    EXPECT_EQ(driver.allocate(20 * MiB, owner), 0x7000000000u);
}

TEST(WhatIfRules, ReadsSettingsFromTheConfiguration) {
    const auto settings = AllocatorSettings::from_text(
        {{"PYTORCH_CUDA_ALLOC_CONF",
          R"("max_split_size_mb: 64, expandable_segments:True,roundup_power2_divisions:[256:1,512:2,>:4],)"
          R"(garbage_collection_threshold:0.75,max_non_split_rounding_mb:40,per_process_memory_fraction:0.5")"},
         {"max_split_size", "-1"},
         {"expandable_segments", "false"}});
    EXPECT_EQ(settings.max_split_size, 64 * MiB);
    EXPECT_EQ(settings.max_non_split_rounding, 40 * MiB);
    EXPECT_TRUE(settings.expandable_segments);
    EXPECT_EQ(settings.garbage_collection_threshold, 0.75);
    EXPECT_EQ(settings.memory_fraction, 0.5);
    EXPECT_EQ(settings.roundup_divisions[0], 1u);
    EXPECT_EQ(settings.roundup_divisions[8], 1u);
    EXPECT_EQ(settings.roundup_divisions[9], 2u);
    EXPECT_EQ(settings.roundup_divisions[15], 4u);
    EXPECT_EQ(AllocatorSettings::from_text({{"PYTORCH_CUDA_ALLOC_CONF", R"("roundup_power2_divisions:8")"}})
                  .roundup_divisions[3],
              8u);
}

TEST(WhatIfRules, PrefersSeparateSettingsToTheConfiguration) {
    const auto settings = AllocatorSettings::from_text({{"PYTORCH_CUDA_ALLOC_CONF", R"("max_split_size_mb:64")"},
                                                        {"max_split_size", std::to_string(128 * MiB)},
                                                        {"garbage_collection_threshold", "0.6"}});
    EXPECT_EQ(settings.max_split_size, 128 * MiB);
    EXPECT_EQ(settings.garbage_collection_threshold, 0.6);
}

}  // namespace
}  // namespace tidemark
