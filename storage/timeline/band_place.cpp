// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/band_place.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace tidemark {

namespace {

constexpr size_t places_tried = 48;
constexpr double enough = 1.2;  // times the height of the text

/// Part of the columns in which the band may be elsewhere: short evaluations between long steps.
constexpr double most_exceptions = 0.12;

template <class Before>
double edge(const std::vector<double>& values, size_t first, size_t columns, double exceptions, Before before) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<double> part(begin, begin + static_cast<std::ptrdiff_t>(columns));
    const auto skipped = static_cast<std::ptrdiff_t>(exceptions * static_cast<double>(columns));
    std::nth_element(part.begin(), part.begin() + skipped, part.end(), before);
    return part[static_cast<size_t>(skipped)];
}

/// Returns the rows that the band covers in these columns but for the exceptions; none if top >= bottom.
BandPlace place_at(const PlotBand& band, size_t first, size_t columns, double exceptions) {
    return {first, edge(band.tops, first, columns, exceptions, std::greater<>()),
            edge(band.bottoms, first, columns, exceptions, std::less<>())};
}

std::optional<BandPlace> best_place(const PlotBand& band, size_t columns, double height, double exceptions) {
    std::optional<BandPlace> best;
    const double middle = static_cast<double>(band.tops.size()) / 2;
    const auto rank = [&](const BandPlace& place) {
        const double center = static_cast<double>(place.first) + static_cast<double>(columns) / 2;
        return std::pair(std::min(place.bottom - place.top, enough * height), -std::abs(center - middle));
    };
    const size_t last = band.tops.size() - columns, step = std::max<size_t>(last / places_tried, 1);
    for (size_t first = 0; first <= last; first += step) {
        const BandPlace place = place_at(band, first, columns, exceptions);
        if (place.bottom - place.top >= height && (!best || rank(place) > rank(*best))) {
            best = place;
        }
    }
    return best;
}

/// The band where it is highest limits every place in it. Most bands are thin.
bool is_high_enough(const PlotBand& band, double height) {
    for (size_t c = 0; c < band.tops.size(); ++c) {
        if (band.bottoms[c] - band.tops[c] >= height) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::optional<BandPlace> band_place(const PlotBand& band, size_t columns, double height) {
    if (columns == 0 || columns > band.tops.size() || !is_high_enough(band, height)) {
        return std::nullopt;
    }
    const auto whole = best_place(band, columns, height, 0);
    return whole ? whole : best_place(band, columns, height, most_exceptions);
}

}  // namespace tidemark
