// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/rises.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "storage/base/median.h"
#include "storage/explain/surviving_allocations.h"

namespace tidemark {
namespace {

constexpr size_t fewest_rises = 3;
constexpr int64_t negligible_part = 20;  ///< less than 1 / 20 of what the largest rise adds

/// Returns the bytes that remain of what each iteration allocated; nothing if the sites do not list all allocations.
std::optional<std::map<int64_t, int64_t>> remaining_by_iteration(std::span<const Site* const> sites,
                                                                 const Iterations& iterations,
                                                                 const DeviceHistory& device, size_t since) {
    std::map<int64_t, int64_t> remaining;
    for (const Site* site : sites) {
        if (site->count != static_cast<int64_t>(site->now.size())) {
            return std::nullopt;
        }
        for (const AllocationIndex a : site->now) {
            const int64_t iteration = iterations.at(device.allocations.alloc_event[a]);
            if (iteration >= static_cast<int64_t>(since)) {
                remaining[iteration] += static_cast<int64_t>(device.allocations.block_size[a]);
            }
        }
    }
    return remaining;
}

/// Neighboring iterations that add memory.
struct Rise {
    int64_t first = 0, last = 0;  ///< iterations
    int64_t bytes = 0;
};

/// Returns the rises, without iterations that add very little.
std::vector<Rise> rises_of(const std::map<int64_t, int64_t>& remaining) {
    int64_t largest = 0;
    for (const auto& [iteration, bytes] : remaining) {
        largest = std::max(largest, bytes);
    }
    std::vector<Rise> rises;
    for (const auto& [iteration, bytes] : remaining) {
        if (bytes < largest / negligible_part) {
            continue;
        }
        if (rises.empty() || iteration > rises.back().last + 1) {
            rises.push_back({iteration, iteration, 0});
        }
        rises.back().last = iteration;
        rises.back().bytes += bytes;
    }
    return rises;
}

/// Returns whether three of four values are near their median.
bool are_alike(const std::vector<int64_t>& values) {
    constexpr double tolerance = 0.1;
    const auto middle = static_cast<double>(median(values));
    const auto alike = std::count_if(values.begin(), values.end(), [&](int64_t value) {
        return std::abs(static_cast<double>(value) - middle) <= middle * tolerance;
    });
    return 4 * static_cast<size_t>(alike) >= 3 * values.size();
}

/// Returns whether the memory came in two to four rises, and most iterations between them added nothing.
bool is_seldom(const std::vector<Rise>& rises) {
    constexpr size_t fewest_sure_rises = 5;
    if (rises.size() < 2 || rises.size() >= fewest_sure_rises) {
        return false;
    }
    int64_t rising = 0;
    for (const Rise& rise : rises) {
        rising += rise.last - rise.first + 1;
    }
    return 2 * rising < rises.back().last - rises.front().first + 1;
}

/// Returns whether each quarter of the iterations from `since` on added at least a quarter of its share.
bool each_part_adds(const std::map<int64_t, int64_t>& remaining, size_t since, size_t iterations) {
    constexpr size_t parts = 4;
    if (iterations < since + parts) {
        return true;
    }
    std::array<int64_t, parts> added{};
    int64_t all = 0;
    for (const auto& [iteration, bytes] : remaining) {
        const size_t part = (static_cast<size_t>(iteration) - since) * parts / (iterations - since);
        added[std::min(part, parts - 1)] += bytes;
        all += bytes;
    }
    return std::all_of(added.begin(), added.end(),
                       [&](int64_t bytes) { return bytes * static_cast<int64_t>(parts * parts) >= all; });
}

}  // namespace

std::optional<Rises> find_rises(std::span<const Site* const> sites, const Iterations& iterations,
                                const DeviceHistory& device, size_t since) {
    const auto remaining = remaining_by_iteration(sites, iterations, device, since);
    return remaining ? find_rises(*remaining) : std::nullopt;
}

std::optional<Rises> find_rises(const std::map<int64_t, int64_t>& remaining) {
    const std::vector<Rise> rises = rises_of(remaining);
    std::vector<int64_t> bytes;
    bytes.reserve(rises.size());
    for (const Rise& rise : rises) {
        bytes.push_back(rise.bytes);
    }
    if (rises.size() < fewest_rises || !are_alike(bytes)) {
        return std::nullopt;
    }
    const auto count = static_cast<int64_t>(rises.size());
    return Rises{
        count, median(std::move(bytes)),
        std::llround(static_cast<double>(rises.back().first - rises.front().first) / static_cast<double>(count - 1))};
}

Pace find_pace(std::span<const Site* const> sites, const Iterations& iterations, const DeviceHistory& device,
               size_t since) {
    const auto remaining = remaining_by_iteration(sites, iterations, device, since);
    if (!remaining) {
        return Pace::steady;
    }
    if (is_seldom(rises_of(*remaining))) {
        return Pace::seldom;
    }
    return each_part_adds(*remaining, since, iterations.size()) ? Pace::steady : Pace::uneven;
}

}  // namespace tidemark
