// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/ticks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tidemark {
namespace {

constexpr double mebibyte = 1 << 20, gibibyte = 1 << 30;

TEST(Ticks, StepsAreRound) {
    EXPECT_EQ(byte_tick_step(3 * gibibyte, 6), gibibyte / 2);
    EXPECT_EQ(byte_tick_step(0, 6), 1);
    EXPECT_EQ(decimal_tick_step(9, 5), 2);
    EXPECT_EQ(decimal_tick_step(0.11, 4), 0.05);
    EXPECT_EQ(decimal_tick_step(0, 4), 1);
}

TEST(Ticks, EverySpanHasAStep) {
    for (const double span : {-1.0, std::nan(""), HUGE_VAL, -HUGE_VAL, 1e-320}) {
        EXPECT_EQ(byte_tick_step(span, 6), 1) << span;
        EXPECT_EQ(decimal_tick_step(span, 6), 1) << span;
    }
    EXPECT_EQ(byte_tick_step(9e18, 1), 0x1p63);
    EXPECT_EQ(decimal_tick_step(9e18, 1), 1e19);
    EXPECT_EQ(decimal_tick_step(9e18, 0), 1e19);
}

TEST(Ticks, LabelsOfAbsurdNumbersEnd) {
    EXPECT_EQ(byte_tick_label(0x1p63, 0x1p60), "8,192 PiB");
    EXPECT_EQ(time_tick_label(9e18, 1e18), "9000000000 s");
    EXPECT_EQ(time_tick_label(1e9, 0), "1.000\u202f000\u202f000 s");
    EXPECT_FALSE(byte_tick_label(std::nan(""), std::nan("")).empty());
    EXPECT_FALSE(time_tick_label(std::nan(""), std::nan("")).empty());
}

TEST(Ticks, BytesAreExactInTheLargestUnitWithTwoDecimals) {
    EXPECT_EQ(byte_tick_label(0, mebibyte), "0");
    EXPECT_EQ(byte_tick_label(1.5 * gibibyte, gibibyte / 2), "1.5 GiB");
    EXPECT_EQ(byte_tick_label(2 * gibibyte, gibibyte / 2), "2 GiB");
    EXPECT_EQ(byte_tick_label(512 * mebibyte, gibibyte / 2), "512 MiB");
    EXPECT_EQ(byte_tick_label(1264 * mebibyte, 16 * mebibyte), "1,264 MiB");
    EXPECT_EQ(byte_tick_label(-1.5 * gibibyte, gibibyte / 2), "-1.5 GiB");
    EXPECT_EQ(byte_tick_label(7, 1), "7 B");
}

TEST(Ticks, TimesHaveTheDecimalsOfTheirStep) {
    EXPECT_EQ(time_tick_label(0, 1e9), "0 s");
    EXPECT_EQ(time_tick_label(3e9, 1e9), "3 s");
    EXPECT_EQ(time_tick_label(2.5e9, 5e8), "2.5 s");
    EXPECT_EQ(time_tick_label(250e3, 50e3), "0.000\u202f25 s");
    EXPECT_EQ(time_tick_label(1, 1), "0.000\u202f000\u202f001 s");
}

TEST(Ticks, NeighboringLabelsDiffer) {
    for (double span = 1; span < 1e15; span *= 3.7) {
        const double bytes = byte_tick_step(span, 5), time = decimal_tick_step(span, 8);
        for (int i = 0; i < 5; ++i) {
            const double at = std::floor(span * 3 / bytes) * bytes + i * bytes;
            EXPECT_NE(byte_tick_label(at, bytes), byte_tick_label(at + bytes, bytes));
            EXPECT_TRUE(time < 1 || time_tick_label(i * time, time) != time_tick_label((i + 1) * time, time));
        }
    }
}

}  // namespace
}  // namespace tidemark
