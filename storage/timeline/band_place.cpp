// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/band_place.h"

#include <algorithm>
#include <functional>

namespace tidemark {

namespace {

constexpr size_t places_tried = 48;
constexpr double enough = 1.2;  // times the height of the text

/// Part of the columns in which the band may be elsewhere: short evaluations between long steps.
constexpr double most_exceptions = 0.12;

size_t skipped(size_t columns, double exceptions) {
    return static_cast<size_t>(exceptions * static_cast<double>(columns));
}

template <class Before>
double edge(const std::vector<double>& values, size_t first, size_t columns, double exceptions, Before before) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<double> part(begin, begin + static_cast<std::ptrdiff_t>(columns));
    const size_t nth = skipped(columns, exceptions);
    std::nth_element(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(nth), part.end(), before);
    return part[nth];
}

/// Returns the rows that the band covers in these columns but for the exceptions; none if top >= bottom.
BandPlace place_at(const PlotBand& band, size_t first, size_t columns, double exceptions) {
    return {first, edge(band.tops, first, columns, exceptions, std::greater<>()),
            edge(band.bottoms, first, columns, exceptions, std::less<>())};
}

/// Returns where a text over so many of all columns may begin, the nearest to the middle first.
std::vector<size_t> places_from_middle(size_t all, size_t columns) {
    std::vector<size_t> places;
    const size_t last = all - columns, step = std::max<size_t>(last / places_tried, 1);
    for (size_t first = 0; first <= last; first += step) {
        places.push_back(first);
    }
    const auto distance = [&](size_t first) {
        return std::max(2 * first + columns, all) - std::min(2 * first + columns, all);
    };
    std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) { return distance(a) < distance(b); });
    return places;
}

/// Returns how many columns before each one have less than `height` of the band; the last number is that of all.
std::vector<size_t> lower_before(const PlotBand& band, double height) {
    std::vector<size_t> before{0};
    before.reserve(band.tops.size() + 1);
    for (size_t c = 0; c < band.tops.size(); ++c) {
        before.push_back(before.back() + (band.bottoms[c] - band.tops[c] < height ? 1 : 0));
    }
    return before;
}

std::optional<BandPlace> best_place(const PlotBand& band, const std::vector<size_t>& lower, size_t columns,
                                    double height, double exceptions) {
    std::optional<BandPlace> best;
    const auto height_of = [](const BandPlace& place) { return place.bottom - place.top; };
    for (const size_t first : places_from_middle(band.tops.size(), columns)) {
        // The rows that columns have in common reach beyond the top of some and beyond the bottom of as many; the
        // others are at least as high as these rows.
        if (lower[first + columns] - lower[first] > 2 * skipped(columns, exceptions)) {
            continue;
        }
        const BandPlace place = place_at(band, first, columns, exceptions);
        if (height_of(place) >= height && (!best || height_of(place) > height_of(*best))) {
            best = place;
        }
        if (best && height_of(*best) >= enough * height) {
            break;
        }
    }
    return best;
}

}  // namespace

std::optional<BandPlace> band_place(const PlotBand& band, size_t columns, double height) {
    if (columns == 0 || columns > band.tops.size()) {
        return std::nullopt;
    }
    const std::vector<size_t> lower = lower_before(band, height);
    if (lower.back() == band.tops.size()) {
        return std::nullopt;  // most bands are thin
    }
    const auto whole = best_place(band, lower, columns, height, 0);
    return whole ? whole : best_place(band, lower, columns, height, most_exceptions);
}

}  // namespace tidemark
