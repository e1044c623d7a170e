// Whether a series of numbers, one per round, goes up for good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark {

enum class Shape : uint8_t {
    flat,      ///< the same after the first rounds
    rising,    ///< goes up to the end, round after round
    filled,    ///< went up, then stayed: a cache, warm-up
    sawtooth,  ///< goes up and falls back, again and again
    uneven,    ///< moves without a direction
};

struct Trend {
    Shape shape = Shape::flat;
    double per_iteration = 0;  ///< rising: the slope, robust against single outliers
    size_t since = 0;          ///< rising: position of the first round of the rise
    int64_t rise = 0;          ///< last value minus the one at `since`
    int64_t highest = 0;       ///< of all
};

/// `values`: a level at the end of each round (or its lowest within the round). The first two rounds are warm-up. Fewer
/// than 5 rounds are never called rising. Levels that differ by less than `noise` bytes are the same.
Trend find_trend(std::span<const int64_t> values, int64_t noise = 0);

}  // namespace tidemark
