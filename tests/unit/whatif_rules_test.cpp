// The allocator model rule by rule, on memory that only exists here.
#include <gtest/gtest.h>

#include "storage/whatif/caching_allocator.h"
#include "storage/whatif/simulated_driver.h"

namespace tidemark {
namespace {

constexpr uint64_t KiB = 1 << 10, MiB = 1 << 20, GiB = 1 << 30;
constexpr int64_t endless = -1;

struct Bench {
    explicit Bench(const AllocatorSettings& settings = {}, int64_t capacity = endless)
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
        Bench bench;
        bench.get(bytes);
        return bench.reserved();
    };
    EXPECT_EQ(reserved_for(1), 2 * MiB);
    EXPECT_EQ(reserved_for(MiB), 2 * MiB);
    EXPECT_EQ(reserved_for(MiB + 1), 20 * MiB);
    EXPECT_EQ(reserved_for(10 * MiB - 512), 20 * MiB);
    EXPECT_EQ(reserved_for(10 * MiB), 10 * MiB);
    EXPECT_EQ(reserved_for(10 * MiB + 1), 12 * MiB);
}

TEST(WhatIfRules, SeparatesSmallAndLargeRequests) {
    Bench bench;
    bench.get(2 * MiB);
    bench.get(1 * MiB);
    EXPECT_EQ(bench.reserved(), 22 * MiB);
}

TEST(WhatIfRules, TakesTheSmallestThenTheLowestFreeBlock) {
    Bench bench;
    const BlockIndex large = bench.get(100 * MiB), a = bench.get(50 * MiB), b = bench.get(50 * MiB);
    const uint64_t lower = std::min(bench.address(a), bench.address(b));
    bench.free(large);
    bench.free(b);
    bench.free(a);
    EXPECT_EQ(bench.address(bench.get(50 * MiB)), lower);
}

TEST(WhatIfRules, KeepsRemaindersUpToOneMiBInLargeBlocks) {
    Bench bench;
    bench.free(bench.get(20 * MiB));
    EXPECT_EQ(bench.size(bench.get(19 * MiB)), 20 * MiB);
}

TEST(WhatIfRules, MergesAdjacentFreeBlocks) {
    Bench bench;
    const BlockIndex a = bench.get(6 * MiB), b = bench.get(6 * MiB), c = bench.get(6 * MiB);
    const uint64_t start = bench.address(a);
    bench.free(a);
    bench.free(c);
    bench.free(b);
    const BlockIndex whole = bench.get(20 * MiB);
    EXPECT_EQ(bench.address(whole), start);
    EXPECT_EQ(bench.reserved(), 20 * MiB);
}

TEST(WhatIfRules, SeparatesStreamsAndPools) {
    Bench bench;
    bench.free(bench.get(20 * MiB, 0));
    bench.get(20 * MiB, 1);
    bench.get(20 * MiB, 0, 3);
    EXPECT_EQ(bench.reserved(), 60 * MiB);
}

TEST(WhatIfRules, DoesNotReusePendingBlocks) {
    Bench bench;
    const BlockIndex b = bench.get(20 * MiB);
    bench.allocator.request_free(b);
    EXPECT_EQ(bench.allocator.figures().allocated, 0);
    bench.get(20 * MiB);
    EXPECT_EQ(bench.reserved(), 40 * MiB);
}

TEST(WhatIfRules, ReleasesCachedSegmentsOfThePoolInEmptyCache) {
    Bench bench;
    bench.free(bench.get(30 * MiB));
    bench.get(6 * MiB);
    bench.free(bench.get(6 * MiB));
    bench.free(bench.get(40 * MiB, 0, 1));
    bench.allocator.release_cached({0});
    EXPECT_EQ(bench.reserved(), (30 + 40) * MiB) << "30: of it 6 are in use; 40: of a private pool";
    bench.allocator.release_cached({1});
    EXPECT_EQ(bench.reserved(), 30 * MiB);
}

TEST(WhatIfRules, ReleasesCachedMemoryAndRetriesWhenRefused) {
    Bench bench({}, 100 * MiB);
    const BlockIndex kept = bench.get(40 * MiB);
    bench.free(bench.get(50 * MiB));
    const BlockIndex b = bench.get(60 * MiB);
    ASSERT_NE(b, no_block);
    EXPECT_NE(kept, b);
    EXPECT_EQ(bench.reserved(), 100 * MiB);
    EXPECT_EQ(bench.allocator.figures().retries, 1);
    EXPECT_EQ(bench.allocator.figures().returned_memory, static_cast<int64_t>(50 * MiB));
}

TEST(WhatIfRules, CompletesPendingFreesInARetry) {
    Bench bench({}, 100 * MiB);
    bench.allocator.request_free(bench.get(80 * MiB));
    EXPECT_NE(bench.get(60 * MiB), no_block);
    EXPECT_EQ(bench.reserved(), 60 * MiB);
}

TEST(WhatIfRules, FailsWhenRefusedTwice) {
    Bench bench({}, 100 * MiB);
    const BlockIndex b = bench.get(60 * MiB);
    EXPECT_EQ(bench.get(60 * MiB), no_block);
    bench.free(b);
    EXPECT_NE(bench.get(90 * MiB), no_block);
}

TEST(WhatIfRules, ReleasesNothingDuringGraphCapture) {
    Bench bench({}, 100 * MiB);
    bench.free(bench.get(80 * MiB));
    EXPECT_EQ(bench.allocator.allocate({60 * MiB, 1, 0, no_allocation, true}), no_block);
    EXPECT_EQ(bench.reserved(), 80 * MiB);
}

TEST(WhatIfRules, NeverSplitsOversizeBlocks) {
    Bench bench(split_below(64 * MiB));
    bench.free(bench.get(100 * MiB));
    EXPECT_EQ(bench.size(bench.get(90 * MiB)), 100 * MiB) << "up to 20 MiB more is handed out whole";
    bench.free(bench.get(200 * MiB));
    bench.get(150 * MiB);
    EXPECT_EQ(bench.reserved(), 450 * MiB) << "50 MiB more is too much";
}

TEST(WhatIfRules, DoesNotServeSmallerRequestsFromOversizeBlocks) {
    Bench bench(split_below(64 * MiB));
    bench.free(bench.get(100 * MiB));
    bench.get(30 * MiB);
    EXPECT_EQ(bench.reserved(), 130 * MiB);
}

TEST(WhatIfRules, ReleasesOversizeBlocksFirstWhenRefused) {
    Bench bench(split_below(64 * MiB), 400 * MiB);
    const BlockIndex a = bench.get(100 * MiB), b = bench.get(140 * MiB), c = bench.get(30 * MiB);
    bench.free(a);
    bench.free(b);
    bench.free(c);
    EXPECT_NE(bench.get(200 * MiB), no_block);
    EXPECT_EQ(bench.reserved(), 230 * MiB) << "both oversize blocks are needed for 200 MiB; the other stays";
    EXPECT_EQ(bench.allocator.figures().retries, 0);
}

TEST(WhatIfRules, ReleasesTheLargestOversizeBlocksUntilTheyShouldSuffice) {
    Bench bench(split_below(64 * MiB), 400 * MiB);
    const BlockIndex a = bench.get(80 * MiB), b = bench.get(120 * MiB), c = bench.get(140 * MiB);
    bench.free(a);
    bench.free(b);
    bench.free(c);
    EXPECT_NE(bench.get(250 * MiB), no_block);
    EXPECT_EQ(bench.reserved(), (80 + 250) * MiB);
}

TEST(WhatIfRules, ReleasesOneOversizeBlockIfItSuffices) {
    Bench bench(split_below(64 * MiB), 400 * MiB);
    const BlockIndex a = bench.get(300 * MiB), b = bench.get(80 * MiB);
    bench.free(a);
    bench.free(b);
    EXPECT_NE(bench.get(200 * MiB), no_block);
    EXPECT_EQ(bench.reserved(), 280 * MiB);
}

TEST(WhatIfRules, RoundsUpByDivisions) {
    AllocatorSettings settings;
    settings.roundup_divisions.fill(4);
    Bench bench(settings);
    EXPECT_EQ(bench.size(bench.get(33 * MiB)), 40 * MiB);
}

TEST(WhatIfRules, CollectsTheOldestCachedSegments) {
    AllocatorSettings settings;
    settings.garbage_collection_threshold = 0.5;
    Bench bench(settings, 400 * MiB);
    const BlockIndex old = bench.get(60 * MiB), young = bench.get(70 * MiB);
    bench.free(old);
    const BlockIndex kept = bench.get(80 * MiB);
    bench.free(young);
    EXPECT_EQ(bench.reserved(), 210 * MiB);
    bench.get(90 * MiB);
    EXPECT_EQ(bench.reserved(), (70 + 80 + 90) * MiB) << "210 MiB were above half of 400; the older 60 went";
    EXPECT_EQ(bench.size(kept), 80 * MiB);
}

TEST(WhatIfRules, DoesNotCollectBelowTheThreshold) {
    AllocatorSettings settings;
    settings.garbage_collection_threshold = 0.5;
    Bench bench(settings, 400 * MiB);
    bench.free(bench.get(60 * MiB));
    bench.get(90 * MiB);
    EXPECT_EQ(bench.reserved(), 150 * MiB);
}

TEST(WhatIfRules, MapsExpandableMemoryInPortions) {
    Bench bench(expandable());
    bench.get(100);
    EXPECT_EQ(bench.reserved(), 2 * MiB);
    const BlockIndex a = bench.get(30 * MiB);
    EXPECT_EQ(bench.reserved(), 42 * MiB);
    const BlockIndex b = bench.get(30 * MiB);
    EXPECT_EQ(bench.reserved(), 62 * MiB) << "10 MiB were left of the first 40";
    EXPECT_EQ(bench.address(b), bench.address(a) + 30 * MiB);
}

TEST(WhatIfRules, ReusesExpandableMemoryForOtherSizes) {
    const auto reserved_with = [](const AllocatorSettings& settings) {
        Bench bench(settings);
        for (uint64_t size = 40; size <= 100; size += 20) {
            bench.free(bench.get(size * MiB));
        }
        return bench.reserved();
    };
    EXPECT_EQ(reserved_with({}), (40 + 60 + 80 + 100) * MiB);
    EXPECT_EQ(reserved_with(expandable()), 100 * MiB);
}

TEST(WhatIfRules, UnmapsOnlyFreePortions) {
    Bench bench(expandable());
    const BlockIndex a = bench.get(30 * MiB), b = bench.get(30 * MiB);
    bench.free(a);
    bench.allocator.release_cached({0});
    EXPECT_EQ(bench.reserved(), 40 * MiB) << "of the free 30 MiB one portion of 20 is whole";
    bench.free(b);
    bench.allocator.release_cached({0});
    EXPECT_EQ(bench.reserved(), 0u);
}

TEST(WhatIfRules, MapsGapsAgainFromTheLowestAddress) {
    Bench bench(expandable());
    const BlockIndex a = bench.get(40 * MiB), b = bench.get(40 * MiB);
    const uint64_t start = bench.address(a);
    bench.free(a);
    bench.allocator.release_cached({0});
    EXPECT_EQ(bench.address(bench.get(20 * MiB)), start);
    EXPECT_EQ(bench.address(bench.get(60 * MiB)), bench.address(b) + 40 * MiB) << "too large for what is left there";
}

TEST(WhatIfRules, KeepsFreeMemoryBesideUnmappedPortions) {
    Bench bench(expandable());
    const BlockIndex a = bench.get(30 * MiB), b = bench.get(60 * MiB);
    bench.get(30 * MiB);
    const uint64_t start = bench.address(a);
    bench.free(b);
    bench.allocator.release_cached({0});
    EXPECT_EQ(bench.reserved(), (120 - 40) * MiB) << "free from 30 to 90; whole portions from 40 to 80";
    EXPECT_EQ(bench.address(bench.get(10 * MiB)), start + 80 * MiB) << "the one below can grow";
    EXPECT_EQ(bench.address(bench.get(10 * MiB)), start + 30 * MiB);
    EXPECT_EQ(bench.address(bench.get(40 * MiB)), start + 40 * MiB);
    EXPECT_EQ(bench.reserved(), 120 * MiB);
}

TEST(WhatIfRules, PrefersGapsToTheGrowingEnd) {
    Bench bench(expandable());
    const BlockIndex a = bench.get(60 * MiB), b = bench.get(30 * MiB);
    const uint64_t gap = bench.address(a);
    bench.free(a);
    // Free: a hole of 60 MiB, and 10 MiB at the end that can grow.
    EXPECT_EQ(bench.address(bench.get(8 * MiB)), gap);
    EXPECT_EQ(bench.size(b), 30 * MiB);
}

TEST(WhatIfRules, DoesNotReuseExpandableMemoryOnceSwitchedOff) {
    Bench bench(expandable());
    bench.free(bench.get(20 * MiB));
    bench.allocator.set_expandable(false);
    bench.get(20 * MiB);
    EXPECT_EQ(bench.reserved(), 40 * MiB);
}

TEST(WhatIfRules, RejectsRequestsLargerThanTheDevice) {
    Bench bench(expandable());
    EXPECT_EQ(bench.get(200 * GiB), no_block);
}

TEST(WhatIfRules, AdoptsMappedMemory) {
    using State = HeapBlock::State;
    Bench bench(expandable());
    const SegmentOwner owner{0, 0, true, true};
    const uint64_t base = uint64_t{1} << 40, end = base + bench.allocator.range_size(owner);
    const auto blocks =
        bench.allocator.adopt(owner, {{base, 20 * MiB, State::allocated, 0},
                                      {base + 20 * MiB, 20 * MiB, State::unmapped, no_allocation},
                                      {base + 40 * MiB, 15 * MiB, State::pending, 1},
                                      {base + 55 * MiB, 5 * MiB, State::free, no_allocation},
                                      {base + 60 * MiB, end - base - 60 * MiB, State::unmapped, no_allocation}});
    EXPECT_EQ(bench.reserved(), 40 * MiB);
    EXPECT_EQ(bench.allocator.figures().allocated, static_cast<int64_t>(20 * MiB));
    EXPECT_EQ(bench.address(bench.get(20 * MiB)), base + 20 * MiB);
    bench.allocator.complete_free(blocks[2]);
    EXPECT_EQ(bench.address(bench.get(20 * MiB)), base + 40 * MiB);
    EXPECT_EQ(bench.reserved(), 60 * MiB);
}

TEST(WhatIfRules, UsesTheRecordedAddressIfItIsFree) {
    SimulatedDriver driver({}, endless);
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
