// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/allocator/block_map.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr uint64_t MiB = 1 << 20;
const SegmentOwner small{0, 0, false, false}, large{0, 0, true, false}, expandable{0, 0, true, true};

int64_t current(const BlockMap& map, Metric metric) { return map.counters().at(metric, PoolKind::all).current; }

TEST(AllocatorRules, RoundsToMultiplesOf512) {
    const AllocatorSettings settings;
    EXPECT_EQ(512u, round_size(settings, 1));
    EXPECT_EQ(512u, round_size(settings, 512));
    EXPECT_EQ(1024u, round_size(settings, 513));
}

TEST(AllocatorRules, RoundsToDivisionsOfPowersOfTwo) {
    const auto settings =
        AllocatorSettings::from_text({{"roundup_power2_divisions", R"({"1": 4, "2": 4, "1024": 1})"}});
    EXPECT_EQ(1280u * 1024, round_size(settings, 1200 * 1024));
    EXPECT_EQ(2u * MiB, round_size(settings, 2 * MiB));
    EXPECT_EQ(1024u * MiB + 512, round_size(settings, 1024 * MiB + 1)) << "one division: multiples of 512";
}

TEST(AllocatorRules, KeepsRemaindersUpToOneMiBInLargeBlocks) {
    AllocatorSettings settings;
    EXPECT_FALSE(should_split(settings, 4 * MiB, MiB, true, false));
    EXPECT_TRUE(should_split(settings, 4 * MiB, MiB + 512, true, false));
    EXPECT_TRUE(should_split(settings, 512, 512, false, false));
    EXPECT_TRUE(should_split(settings, 4 * MiB, 512, true, true)) << "expandable memory is always split";
    settings.max_split_size = 4 * MiB;
    EXPECT_FALSE(should_split(settings, 4 * MiB, 90 * MiB, true, false));
}

TEST(BlockMap, SplitsAndMergesBlocks) {
    BlockMap map{{}};
    ASSERT_TRUE(map.add_segment(0x1000000, 2 * MiB, small));
    EXPECT_EQ(1024u, map.allocate(0x1000000, 1000).size);
    EXPECT_EQ(512u, map.allocate(0x1000400, 1).size);
    EXPECT_EQ(1, current(map, Metric::inactive_split));
    EXPECT_EQ(int64_t(2 * MiB - 1536), current(map, Metric::inactive_split_bytes));
    ASSERT_TRUE(map.request_free(0x1000000));
    ASSERT_TRUE(map.complete_free(0x1000000));
    EXPECT_EQ(2, current(map, Metric::inactive_split));
    ASSERT_TRUE(map.request_free(0x1000400));
    ASSERT_TRUE(map.complete_free(0x1000400));
    EXPECT_EQ(0, current(map, Metric::inactive_split));
    EXPECT_EQ(0, current(map, Metric::active_bytes));
    EXPECT_TRUE(map.remove_segment(0x1000000, 2 * MiB));
    EXPECT_EQ(0, current(map, Metric::reserved_bytes));
}

TEST(BlockMap, CountsPendingBlocksAsActiveNotAllocated) {
    BlockMap map{{}};
    map.add_segment(0, 20 * MiB, large);
    map.allocate(0, 5 * MiB);
    map.request_free(0);
    EXPECT_EQ(0, current(map, Metric::allocation));
    EXPECT_EQ(1, current(map, Metric::active));
    EXPECT_FALSE(map.request_free(0)) << "freed twice";
    EXPECT_FALSE(map.remove_segment(0, 20 * MiB)) << "still in use";
}

TEST(BlockMap, MergesAdjacentMappedSegments) {
    BlockMap map{{}};
    map.add_segment(0, 20 * MiB, expandable);
    map.add_segment(40 * MiB, 20 * MiB, expandable);
    map.add_segment(20 * MiB, 20 * MiB, expandable);
    EXPECT_EQ(55 * MiB, map.allocate(0, 55 * MiB).size);
    EXPECT_FALSE(map.remove_segment(0, 20 * MiB));
    map.request_free(0);
    map.complete_free(0);
    ASSERT_TRUE(map.remove_segment(20 * MiB, 20 * MiB));
    int ranges = 0;
    map.for_each_range([&](uint64_t, uint64_t size, const SegmentOwner&, const auto& blocks) {
        ++ranges;
        EXPECT_EQ(20 * MiB, size);
        EXPECT_EQ(1u, blocks.size());
    });
    EXPECT_EQ(2, ranges);
    EXPECT_EQ(0, current(map, Metric::segment)) << "expandable memory does not count as segments";
    EXPECT_EQ(0, current(map, Metric::inactive_split_bytes)) << "expandable memory has no inactive splits";
}

TEST(BlockMap, ReportsInconsistentEventsAndStaysConsistent) {
    BlockMap map{{}};
    map.add_segment(0, 20 * MiB, large);
    EXPECT_FALSE(map.allocate(100 * MiB, 5 * MiB).consistent) << "outside every segment";
    ASSERT_TRUE(map.allocate(0, 5 * MiB).consistent);
    EXPECT_FALSE(map.allocate(2 * MiB, 2 * MiB).consistent) << "overlaps another block, which is truncated";
    EXPECT_FALSE(map.allocate(8 * MiB, 2 * MiB).consistent) << "not at the start of free memory";
    uint64_t covered = 0;
    int64_t active = 0, inactive_split = 0;
    map.for_each_range([&](uint64_t, uint64_t, const SegmentOwner&, const auto& blocks) {
        for (const auto& block : blocks) {
            covered += block.size;
            active += block.state == BlockMap::State::free ? 0 : static_cast<int64_t>(block.size);
            inactive_split += block.state == BlockMap::State::free ? static_cast<int64_t>(block.size) : 0;
        }
    });
    EXPECT_EQ(20 * MiB, covered);
    EXPECT_EQ(active, current(map, Metric::active_bytes));
    EXPECT_EQ(inactive_split, current(map, Metric::inactive_split_bytes));
    EXPECT_TRUE(map.evict(0, 20 * MiB));
    EXPECT_EQ(0, current(map, Metric::reserved_bytes));
    EXPECT_EQ(0, current(map, Metric::active_bytes));
    EXPECT_EQ(0, current(map, Metric::inactive_split_bytes));
}

}  // namespace
}  // namespace tidemark
