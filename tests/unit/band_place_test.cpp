// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/band_place.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr double text = 16;

/// Returns a band on the ground of a plot of 100 pixels.
PlotBand band_of_heights(const std::vector<double>& heights) {
    PlotBand band;
    for (const double height : heights) {
        band.tops.push_back(100 - height);
        band.bottoms.push_back(100);
    }
    return band;
}

TEST(BandPlace, IsNearestToTheMiddle) {
    const auto place = band_place(band_of_heights(std::vector<double>(40, 50)), 10, text);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->first, 15U);
    EXPECT_EQ(place->top, 50);
    EXPECT_EQ(place->bottom, 100);
}

TEST(BandPlace, NeedsTheHeightOfTheText) {
    EXPECT_FALSE(band_place(band_of_heights(std::vector<double>(40, text - 1)), 10, text));
    EXPECT_FALSE(band_place(band_of_heights(std::vector<double>(9, 50)), 10, text)) << "fewer columns than the text";
    EXPECT_FALSE(band_place({}, 0, text));
}

TEST(BandPlace, LiesInTheBandWithItsWholeWidthIfItCan) {
    std::vector<double> heights(60, 50);
    heights[30] = 0;  // in the middle
    const auto place = band_place(band_of_heights(heights), 20, text);
    ASSERT_TRUE(place);
    EXPECT_TRUE(place->first + 20 <= 30 || place->first > 30);
}

TEST(BandPlace, CrossesShortGapsWhereThereIsNoOtherPlace) {
    std::vector<double> heights(60, 50);
    for (size_t c = 9; c < heights.size(); c += 10) {
        heights[c] = 0;
    }
    const auto place = band_place(band_of_heights(heights), 20, text);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->top, 50);
}

}  // namespace
}  // namespace tidemark
