// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Where the name of a band stands in a stacked plot, whose bands change their height and place from column to column.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tidemark {

/// The edges of one band in pixels, which grow downwards, by column.
struct PlotBand {
    std::vector<double> tops, bottoms;
};

struct BandPlace {
    size_t first = 0;  ///< column
    double top = 0, bottom = 0;
};

/// Returns where the band has room for a text of so many columns and pixels: nearest to the middle; nothing if it is
/// nowhere high enough. Where it is high enough for the text only, other places are better.
std::optional<BandPlace> band_place(const PlotBand& band, size_t columns, double height);

}  // namespace tidemark
