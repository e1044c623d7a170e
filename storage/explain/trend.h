// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Trend of a series of values, one per iteration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark {

enum class Shape : uint8_t {
    flat,      ///< constant after the first iterations
    rising,    ///< rises to the end, iteration after iteration
    filled,    ///< rose, then constant: a cache, warm-up
    sawtooth,  ///< rises and falls again repeatedly
    uneven,    ///< changes without a direction
};

struct Trend {
    Shape shape = Shape::flat;
    double per_iteration = 0;  ///< rising: the slope, robust against single outliers
    size_t since = 0;          ///< rising: position of the first iteration of the rise
    int64_t rise = 0;          ///< last value minus the one at `since`
    int64_t highest = 0;       ///< highest value
};

/// Returns the trend of `values`: the level at the end of each iteration, or its lowest level within the iteration, in
/// bytes. The first two iterations are warm-up. Fewer than 5 iterations are never `rising`. Levels that differ by less
/// than `noise` bytes count as equal.
Trend find_trend(std::span<const int64_t> values, int64_t noise = 0);

}  // namespace tidemark
