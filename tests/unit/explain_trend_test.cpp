// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/trend.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tidemark {
namespace {

std::vector<int64_t> series(size_t count, int64_t (*level)(size_t)) {
    std::vector<int64_t> values;
    for (size_t i = 0; i < count; ++i) {
        values.push_back(level(i));
    }
    return values;
}

TEST(Trend, ReportsTheSlopeOfAStaircase) {
    const Trend trend = find_trend(series(60, [](size_t i) { return static_cast<int64_t>(8192 * (i + 1)); }));
    EXPECT_EQ(trend.shape, Shape::rising);
    EXPECT_DOUBLE_EQ(trend.per_iteration, 8192);
    EXPECT_EQ(trend.since, 0u) << "the first iterations added as much as the others";
    EXPECT_EQ(trend.highest, 60 * 8192);
}

TEST(Trend, ExcludesTheFirstIterationFromTheRise) {
    auto values = series(30, [](size_t i) { return static_cast<int64_t>(1'000'000 + 512 * i); });
    values[0] = 0;
    const Trend trend = find_trend(values);
    EXPECT_EQ(trend.shape, Shape::rising);
    EXPECT_DOUBLE_EQ(trend.per_iteration, 512);
    EXPECT_EQ(trend.rise, values.back() - values[trend.since]);
    EXPECT_LE(trend.since, 2u);
}

TEST(Trend, IsFlatAfterWarmUp) {
    EXPECT_EQ(find_trend(std::vector<int64_t>{0, 100, 900, 900, 900, 900, 900, 900}).shape, Shape::flat);
    EXPECT_EQ(find_trend(std::vector<int64_t>{}).shape, Shape::flat);
    EXPECT_EQ(find_trend(std::vector<int64_t>{7}).shape, Shape::flat);
}

TEST(Trend, IsNotRisingForACacheThatFillsUp) {
    const Trend trend =
        find_trend(series(40, [](size_t i) { return static_cast<int64_t>(100 * std::min<size_t>(i, 16)); }));
    EXPECT_EQ(trend.shape, Shape::filled);
}

TEST(Trend, DetectsASawtooth) {
    const Trend trend = find_trend(series(60, [](size_t i) { return static_cast<int64_t>(1000 * (i % 12)); }));
    EXPECT_EQ(trend.shape, Shape::sawtooth);
}

TEST(Trend, IgnoresOneHighIteration) {
    std::vector<int64_t> values(30, 5000);
    values[12] = 90'000;
    EXPECT_NE(find_trend(values).shape, Shape::rising);
    values.back() = 90'000;
    EXPECT_NE(find_trend(values).shape, Shape::rising) << "at the end, too";
}

TEST(Trend, IgnoresNoise) {
    std::mt19937 random(7);
    for (int run = 0; run < 200; ++run) {
        std::vector<int64_t> values(40);
        for (int64_t& value : values) {
            value = 1'000'000 + static_cast<int64_t>(random() % 100'000);
        }
        EXPECT_NE(find_trend(values).shape, Shape::rising) << "run " << run;
    }
}

TEST(Trend, DetectsARiseBelowTemporaryPeaks) {
    auto values = series(50, [](size_t i) { return static_cast<int64_t>(4096 * i + (i % 7 == 3 ? 1'000'000 : 0)); });
    const Trend trend = find_trend(values);
    EXPECT_EQ(trend.shape, Shape::rising);
    EXPECT_NEAR(trend.per_iteration, 4096, 300);
}

TEST(Trend, DetectsARiseWhoseLastIterationIsHigh) {
    auto values = series(20, [](size_t i) { return static_cast<int64_t>(1000 * (i + 1)); });
    values.back() *= 2;  // both tensors exist while one is copied into the other
    const Trend trend = find_trend(values);
    EXPECT_EQ(trend.shape, Shape::rising);
    EXPECT_DOUBLE_EQ(trend.per_iteration, 1000);
}

TEST(Trend, IsNotRisingAfterTheGrowthEnded) {
    std::vector<int64_t> filled, stairs;
    for (int64_t i = 0; i < 210; ++i) {
        filled.push_back(std::min<int64_t>(i, 150) * 40);
        stairs.push_back(i / 40 * 1000);
    }
    EXPECT_EQ(find_trend(filled).shape, Shape::filled);
    EXPECT_EQ(find_trend(stairs).shape, Shape::rising) << "the next stair may come";
}

TEST(Trend, IsNotRisingWhileAFullCacheGoesUpAndDown) {
    // Of 24 open dialogues, each at most 640 tokens long: in MiB.
    const std::vector<int64_t> levels{
        20,  31,  36,  46,  52,  62,  67,  78,  83,  93,  99,  106, 114, 104, 114, 120, 130, 120, 130, 135,
        114, 119, 130, 135, 145, 151, 161, 166, 175, 182, 187, 198, 203, 213, 203, 213, 219, 229, 219, 229,
        219, 229, 234, 234, 234, 216, 224, 229, 208, 213, 208, 213, 224, 229, 224, 229, 229, 234, 245, 245,
        243, 234, 235, 239, 229, 234, 240, 234, 240, 234, 240, 234, 229, 224, 229, 224, 229, 237, 245, 235,
        245, 240, 245, 234, 229, 219, 224, 229, 224, 229, 239, 229, 224, 229, 226, 234, 240, 250, 255, 234};
    EXPECT_NE(find_trend(levels).shape, Shape::rising);
    auto leak = levels;
    for (size_t i = 0; i < leak.size(); ++i) {
        leak[i] += static_cast<int64_t>(2 * i);
    }
    EXPECT_EQ(find_trend(leak).shape, Shape::rising) << "with another cause";
}

TEST(Trend, IsNeverRisingForFewIterations) {
    EXPECT_NE(find_trend(std::vector<int64_t>{0, 10, 20, 30}).shape, Shape::rising);
    EXPECT_EQ(find_trend(std::vector<int64_t>{0, 10, 20, 30, 40}).shape, Shape::rising);
}

}  // namespace
}  // namespace tidemark
