// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/base/saturated.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "storage/base/units.h"

namespace tidemark {
namespace {

TEST(Saturated, RoundsTowardZero) {
    EXPECT_EQ(saturated<int>(2.9), 2);
    EXPECT_EQ(saturated<int>(-2.9), -2);
    EXPECT_EQ(saturated<uint64_t>(7.5), 7u);
}

TEST(Saturated, ValuesThatDoNotFitBecomeTheNearest) {
    EXPECT_EQ(saturated<int64_t>(0x1p63), INT64_MAX);
    EXPECT_EQ(saturated<int64_t>(-0x1p63), INT64_MIN);
    EXPECT_EQ(saturated<int64_t>(-1e300), INT64_MIN);
    EXPECT_EQ(saturated<int>(INFINITY), INT32_MAX);
    EXPECT_EQ(saturated<int>(-INFINITY), INT32_MIN);
    EXPECT_EQ(saturated<uint64_t>(-1), 0u);
    EXPECT_EQ(saturated<uint64_t>(0x1p64), UINT64_MAX);
    EXPECT_EQ(saturated<int>(std::nan("")), 0);
}

TEST(Units, TheLowestNumberHasAReadableSize) { EXPECT_EQ(format_bytes(INT64_MIN), "-8.00 EiB"); }

}  // namespace
}  // namespace tidemark
