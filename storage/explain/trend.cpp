// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/trend.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tidemark {
namespace {

constexpr size_t warm_up = 2;
constexpr size_t fewest_iterations = 5;
constexpr size_t fewest_after_change = 9;  ///< thirds of fewer values say little

double quantile(std::vector<double> values, double share) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

/// Returns the median of the slopes between values half the series apart, so that single outliers have no effect.
double robust_slope(std::span<const int64_t> values) {
    const size_t half = values.size() / 2;
    std::vector<double> slopes;
    for (size_t i = 0; i + half < values.size(); ++i) {
        slopes.push_back(static_cast<double>(values[i + half] - values[i]) / static_cast<double>(half));
    }
    return quantile(std::move(slopes), 0.5);
}

/// Returns, for each value, the lowest of all later values, so that memory that is freed later does not count.
std::vector<int64_t> lasting(std::span<const int64_t> values) {
    std::vector<int64_t> lowest(values.begin(), values.end());
    for (size_t i = lowest.size() - 1; i-- > 0;) {
        lowest[i] = std::min(lowest[i], lowest[i + 1]);
    }
    return lowest;
}

struct Moves {
    size_t up = 0, down = 0;
    int64_t most_down = 0;
};

Moves moves_of(std::span<const int64_t> values, int64_t noise) {
    Moves moves;
    for (size_t i = 1; i < values.size(); ++i) {
        const int64_t by = values[i] - values[i - 1];
        moves.up += by > noise;
        moves.down += by < -noise;
        moves.most_down = std::max(moves.most_down, -by);
    }
    return moves;
}

/// Returns whether the values rise in each part of the series after the warm-up: in thirds if there are enough
/// iterations.
bool keeps_rising(const std::vector<int64_t>& floor, size_t from, int64_t noise) {
    const size_t iterations = floor.size() - from;
    const size_t parts = iterations >= 9 ? 3 : 2;
    const int64_t all = floor.back() - floor[from];
    for (size_t part = 0; part < parts; ++part) {
        const size_t first = from + part * (iterations - 1) / parts,
                     last = from + (part + 1) * (iterations - 1) / parts;
        const int64_t by = floor[last] - floor[first];
        // A part that adds very little compared with the others means that the growth ended there.
        if (by <= noise || by * static_cast<int64_t>(parts) * 5 < all) {
            return false;
        }
    }
    return true;
}

/// Returns whether the last third is above the first by more than the spread of each, and by a large part of the rise.
/// In pure noise the lowest later value also rises towards the end.
bool moves_as_a_whole(std::span<const int64_t> values, int64_t rise) {
    const size_t third = std::max<size_t>(1, values.size() / 3);
    const std::vector<double> first(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(third));
    const std::vector<double> last(values.end() - static_cast<std::ptrdiff_t>(third), values.end());
    const auto spread = [](const std::vector<double>& part) { return quantile(part, 0.75) - quantile(part, 0.25); };
    const double moved = quantile(last, 0.5) - quantile(first, 0.5);
    return moved * 2 >= static_cast<double>(rise) && moved >= 0.75 * (spread(first) + spread(last));
}

/// Returns whether the values go up and down for more than half of the series rather than rise: from the fifth tenth
/// on, they rise at less than a fifth of the pace before, and fall at once by more than that. A full cache whose
/// entries differ in size does so. Of each tenth the lowest value counts, because high ones may be temporary; it needs
/// three.
bool swings(std::span<const int64_t> values, int64_t noise) {
    constexpr size_t parts = 10, full = 4, fewest_of_part = 3;
    constexpr int64_t slower = 5;
    if (values.size() < parts * fewest_of_part) {
        return false;
    }
    const auto lowest_of = [&](size_t part) {
        const auto of_part = values.subspan(part * values.size() / parts, values.size() / parts);
        return *std::min_element(of_part.begin(), of_part.end());
    };
    const int64_t lowest_when_full = lowest_of(full);
    const int64_t before = (lowest_when_full - lowest_of(0)) / static_cast<int64_t>(full);
    const int64_t later = lowest_of(parts - 1) - lowest_when_full;
    int64_t highest = 0, fall = 0;
    for (const int64_t value : values.subspan(full * values.size() / parts)) {
        highest = std::max(highest, value);
        fall = std::max(fall, highest - value);
    }
    return later * slower < before * static_cast<int64_t>(parts - 1 - full) && fall > std::max(later, noise);
}

/// Returns the first position of the rise. Warm-up may hide it: earlier iterations that add about the same amount
/// belong to the rise.
size_t rise_begins(const std::vector<int64_t>& floor, size_t from, double per_iteration) {
    const auto added = [&](size_t i) { return static_cast<double>(floor[i] - (i == 0 ? 0 : floor[i - 1])); };
    while (from > 0 && added(from - 1) > per_iteration / 2 && added(from - 1) < per_iteration * 2) {
        --from;
    }
    return from;
}

/// Returns whether the growth has ended: since its last rise more time has passed than ever between two rises.
bool has_ended(std::span<const int64_t> floor, int64_t noise) {
    size_t last = 0, longest = 0;
    for (size_t i = 1; i < floor.size(); ++i) {
        if (floor[i] > floor[i - 1] + noise) {
            longest = last == 0 ? longest : std::max(longest, i - last);
            last = i;
        }
    }
    const size_t since = floor.size() - 1 - last;
    return longest > 0 && since > 2 * longest && since > floor.size() / 10;
}

/// Returns the position of the last value before the first rise, if that comes late and a long enough part follows;
/// otherwise `from`. Growth may begin in the middle of a run, for example when evaluation begins.
size_t change_point(std::span<const int64_t> values, size_t from, int64_t noise) {
    size_t first = from;
    while (first + 1 < values.size() && values[first + 1] <= values[from] + noise) {
        ++first;
    }
    return values.size() - first > fewest_after_change ? first : from;
}

/// Returns the position after which the series no longer differs from its end.
size_t rest_begins(std::span<const int64_t> values, int64_t noise) {
    size_t at = values.size();
    while (at > 0 && std::llabs(values[at - 1] - values.back()) <= noise) {
        --at;
    }
    return at;
}

}  // namespace

Trend find_trend(std::span<const int64_t> values, int64_t noise) {
    Trend trend;
    if (values.empty()) {
        return trend;
    }
    trend.highest = *std::max_element(values.begin(), values.end());
    const size_t from = values.size() > warm_up + fewest_iterations ? warm_up : std::min<size_t>(1, values.size() - 1);
    const auto steady = values.subspan(from);
    trend.since = from;
    trend.rise = values.back() - values[from];
    const auto [low, high] = std::minmax_element(steady.begin(), steady.end());
    if (*high - *low <= noise) {
        return trend;
    }
    const std::vector<int64_t> floor = lasting(values);
    const Moves moves = moves_of(steady, noise);
    const size_t change = moves.down == 0 ? change_point(values, from, noise) : from;
    // No later value shows whether the last one lasts, so the one before it counts: a loop may end amid its work.
    for (const size_t begin : {from, change}) {
        if (values.size() >= begin - from + fewest_iterations && keeps_rising(floor, begin, noise) &&
            !has_ended(std::span(floor).subspan(begin), noise) && !swings(values, noise) &&
            moves_as_a_whole(values.subspan(begin), floor[floor.size() - 2] - floor[begin])) {
            trend.shape = Shape::rising;
            trend.per_iteration = robust_slope(std::span(floor).subspan(begin));
            trend.since = rise_begins(floor, begin, trend.per_iteration);
            trend.rise = floor.back() - floor[trend.since];
            return trend;
        }
    }
    if (rest_begins(values, noise) < values.size() - values.size() / 4 && values.back() > values.front() + noise &&
        moves.down == 0) {
        trend.shape = Shape::filled;
    } else if (moves.up > 2 * std::max<size_t>(moves.down, 1) && moves.down > 0 && moves.most_down * 2 > *high - *low) {
        trend.shape = Shape::sawtooth;
    } else {
        trend.shape = Shape::uneven;
    }
    return trend;
}

}  // namespace tidemark
