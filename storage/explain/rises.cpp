// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/rises.h"

#include <algorithm>
#include <cmath>
#include <map>
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

/// Returns whether three of four values are near their median.
bool are_alike(const std::vector<int64_t>& values) {
    constexpr double tolerance = 0.1;
    const auto middle = static_cast<double>(median(values));
    const auto alike = std::count_if(values.begin(), values.end(), [&](int64_t value) {
        return std::abs(static_cast<double>(value) - middle) <= middle * tolerance;
    });
    return 4 * static_cast<size_t>(alike) >= 3 * values.size();
}

}  // namespace

std::optional<Rises> find_rises(std::span<const Site* const> sites, const Iterations& iterations,
                                const DeviceHistory& device, size_t since) {
    auto remaining = remaining_by_iteration(sites, iterations, device, since);
    if (!remaining || remaining->size() < fewest_rises) {
        return std::nullopt;
    }
    int64_t largest = 0;
    for (const auto& [iteration, bytes] : *remaining) {
        largest = std::max(largest, bytes);
    }
    std::erase_if(*remaining, [&](const auto& item) { return item.second < largest / negligible_part; });
    std::vector<int64_t> rises;
    int64_t first = 0, begin = 0, last = -1;
    for (const auto& [iteration, bytes] : *remaining) {
        if (!rises.empty() && iteration == last + 1) {
            rises.back() += bytes;
        } else {
            first = rises.empty() ? iteration : first;
            begin = iteration;
            rises.push_back(bytes);
        }
        last = iteration;
    }
    if (rises.size() < fewest_rises || !are_alike(rises)) {
        return std::nullopt;
    }
    const auto count = static_cast<int64_t>(rises.size());
    return Rises{count, median(rises),
                 std::llround(static_cast<double>(begin - first) / static_cast<double>(count - 1))};
}

}  // namespace tidemark
