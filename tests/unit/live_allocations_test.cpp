// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/allocator/live_allocations.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
#include <vector>

namespace tidemark {
namespace {

LiveAllocation allocation_at(uint64_t address, uint32_t id) {
    FileAllocation allocation;
    allocation.address = address;
    allocation.requested = 1000;
    allocation.block_size = 1024;
    allocation.stack = 7;
    return {allocation, id, false};
}

TEST(LiveAllocations, AreFoundByAddress) {
    LiveAllocations live;
    EXPECT_EQ(nullptr, live.find(0x200));
    EXPECT_FALSE(live.take(0x200));
    live.set(allocation_at(0x200, 1));
    live.set(allocation_at(0, 2));
    ASSERT_NE(nullptr, live.find(0x200));
    EXPECT_EQ(1000u, live.find(0x200)->requested);
    EXPECT_EQ(1024u, live.find(0x200)->size);
    EXPECT_EQ(7u, live.find(0x200)->stack);
    EXPECT_FALSE(live.find(0x200)->is_pending);
    EXPECT_EQ(2u, live.find(0)->id);
    EXPECT_EQ(nullptr, live.find(0x400));
}

TEST(LiveAllocations, AnAddressHasOne) {
    LiveAllocations live;
    live.set(allocation_at(0x200, 1));
    live.set(allocation_at(0x200, 2));
    EXPECT_EQ(1, std::distance(live.begin(), live.end()));
    EXPECT_EQ(2u, live.take(0x200)->id);
    EXPECT_EQ(nullptr, live.find(0x200));
}

TEST(LiveAllocations, BehaveLikeAMap) {
    LiveAllocations live;
    std::map<uint64_t, uint32_t> expected;
    std::mt19937 random(1);
    for (uint32_t i = 0; i < 100'000; ++i) {
        const uint64_t address = random() % 5000 * 512;
        if (random() % 5 < 3) {
            live.set(allocation_at(address, i));
            expected[address] = i;
        } else {
            const auto taken = live.take(address);
            ASSERT_EQ(expected.erase(address) == 1, taken.has_value());
        }
    }
    std::map<uint64_t, uint32_t> found;
    for (const LiveAllocation& allocation : live) {
        EXPECT_TRUE(found.emplace(allocation.address, allocation.id).second);
        ASSERT_EQ(&allocation, live.find(allocation.address));
    }
    EXPECT_EQ(expected, found);
}

TEST(AddressIndex, FindsTheLatestRecordAtAnAddress) {
    struct Record {
        uint64_t address;
    };
    std::vector<Record> records(1000, Record{0x1000});
    AddressIndex index;
    for (uint32_t i = 0; i < records.size(); ++i) {
        index.add(records, i);
        ASSERT_EQ(i, index.find(records, 0x1000));
    }
    index.remove(0x1000, 999);
    EXPECT_EQ(998u, index.find(records, 0x1000));
    index.remove(0x1000, 999);
    index.remove(0x1000, 0);
    EXPECT_EQ(998u, index.find(records, 0x1000));
    EXPECT_EQ(AddressIndex::none, index.find(records, 0x2000));
}

}  // namespace
}  // namespace tidemark
