// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Numbers of events in files from which details were deleted, packed counters, and limits of sizes.
#include <gtest/gtest.h>

#include "storage/base/size_limit.h"
#include "storage/trace/file_numbers.h"
#include "storage/trace/packed_counters.h"

namespace tidemark {
namespace {

TEST(FileNumbers, AreEqualIfNothingWasDeleted) {
    const FileNumbers numbers;
    EXPECT_TRUE(numbers.are_equal());
    EXPECT_EQ(numbers.find(7), 7);
    EXPECT_EQ(numbers.state(7), 7);
    EXPECT_EQ(numbers.in_file(7), 7);
    EXPECT_EQ(numbers.find(-1), std::nullopt);
    EXPECT_EQ(numbers.find(int64_t{1} << 40), std::nullopt);
}

TEST(FileNumbers, HaveNoGapsInMemory) {
    constexpr FileEvent far = int64_t{1} << 36;
    const std::vector<FileRange> incomplete{{10, 20}, {30, far}};
    const std::vector<FileEvent> left{10, 15, 16, 30, far - 1};
    const FileNumbers numbers(incomplete, left);
    EXPECT_EQ(numbers.find(9), 9);
    EXPECT_EQ(numbers.find(10), 10);
    EXPECT_EQ(numbers.find(11), std::nullopt);
    EXPECT_EQ(numbers.find(15), 11);
    EXPECT_EQ(numbers.find(16), 12);
    EXPECT_EQ(numbers.find(20), 13);
    EXPECT_EQ(numbers.find(30), 23);
    EXPECT_EQ(numbers.find(far - 1), 24);
    EXPECT_EQ(numbers.find(far), 25);
    EXPECT_EQ(numbers.state(0), 0);
    EXPECT_EQ(numbers.state(12), 11) << "after event 10";
    EXPECT_EQ(numbers.state(20), 13);
    EXPECT_EQ(numbers.state(far), 25);
    for (EventNumber event = 0; event < 100; ++event) {
        EXPECT_EQ(numbers.find(numbers.in_file(event)), event);
        EXPECT_EQ(numbers.state(numbers.in_file(event)), event);
    }
}

TEST(FileNumbers, BeginWithADeletedStep) {
    const std::vector<FileRange> incomplete{{0, 100}};
    const FileNumbers numbers(incomplete, {});
    EXPECT_EQ(numbers.find(0), std::nullopt);
    EXPECT_EQ(numbers.state(50), 0);
    EXPECT_EQ(numbers.find(100), 0);
    EXPECT_EQ(numbers.in_file(5), 105);
}

TEST(PackedCounters, ReturnTheirValues) {
    const std::vector<int64_t> values{5, 7, 100, 95, 0, 0, 0, 0, -3, INT64_MAX, INT64_MIN, 12, 1LL << 40, 0, 1, 2};
    EXPECT_EQ(unpacked_counters(packed_counters(values)), values);
    EXPECT_EQ(packed_counters(std::vector<int64_t>{1, 1, 1, 0}).size(), 4u);
    EXPECT_TRUE(unpacked_counters("").empty());
    EXPECT_TRUE(unpacked_counters("\x80\x80").empty()) << "damaged";
    EXPECT_TRUE(unpacked_counters(std::string(64, '\xff')).empty());
}

TEST(SizeLimit, IsASizeOrAll) {
    EXPECT_EQ(parse_size_limit("2GB"), int64_t{2'000'000'000});
    EXPECT_EQ(parse_size_limit("64 MiB"), int64_t{64} << 20);
    EXPECT_EQ(parse_size_limit("all"), 0);
    EXPECT_EQ(parse_size_limit("0"), 0);
    for (const char* text : {"", "much", "-5GB", "15MB", "1"}) {
        EXPECT_FALSE(parse_size_limit(text)) << text;
    }
}

}  // namespace
}  // namespace tidemark
