// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/growing_tensors.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace tidemark {
namespace {

constexpr size_t fewest_sizes = 4;
constexpr size_t most_sizes = 32;

// What was requested is compared, not the block: the allocator may leave up to 1 MiB more in it.

/// Returns whether the op makes a tensor out of others, and larger. Compares the innermost op of the path.
bool joins_tensors(std::string_view op) {
    static constexpr std::array<std::string_view, 12> names{
        "aten::cat",    "aten::_cat",   "aten::concat", "aten::concatenate", "aten::stack",   "aten::hstack",
        "aten::vstack", "aten::dstack", "aten::append", "aten::pad",         "aten::resize_", "aten::constant_pad_nd"};
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return op.ends_with(name); });
}

/// Returns the site's largest allocation of each of the last iterations, oldest first.
std::vector<AllocationIndex> largest_of_iterations(const Site& site, const DeviceHistory& device,
                                                   const Iterations& iterations) {
    const Allocations& allocations = device.allocations;
    const size_t first = iterations.size() - std::min(iterations.size(), most_sizes);
    const auto& made = allocations.alloc_event;
    auto at = std::lower_bound(made.begin(), made.end(), iterations[first].first);
    std::vector<AllocationIndex> largest;
    for (size_t i = first; i < iterations.size(); ++i) {
        AllocationIndex found = no_allocation;
        for (; at != made.end() && *at < iterations[i].last; ++at) {
            const auto a = static_cast<AllocationIndex>(at - made.begin());
            if (allocations.stack[a] == site.stack &&
                (found == no_allocation || allocations.requested[a] > allocations.requested[found])) {
                found = a;
            }
        }
        if (found != no_allocation) {
            largest.push_back(found);
        }
    }
    return largest;
}

/// Returns whether an allocation that exists when `larger` is made is as large as the difference of the two.
bool is_sum(const Allocations& allocations, AllocationIndex smaller, AllocationIndex larger) {
    const uint64_t size = allocations.requested[larger], before = allocations.requested[smaller];
    const EventNumber made = allocations.alloc_event[larger];
    if (size <= before || allocations.free_event[smaller] < made) {
        return false;
    }
    for (AllocationIndex a = smaller + 1; a < larger; ++a) {
        if (allocations.requested[a] == size - before && allocations.free_event[a] > made) {
            return true;
        }
    }
    return false;
}

}  // namespace

bool is_growing_tensor(const Site& site, const Trace& trace, const DeviceHistory& device,
                       const Iterations& iterations) {
    if (site.count > static_cast<int64_t>(site.now.size()) || iterations.size() < fewest_sizes) {
        return false;
    }
    const Allocations& allocations = device.allocations;
    const std::vector<AllocationIndex> tensors = largest_of_iterations(site, device, iterations);
    size_t grown = 0, sums = 0;
    for (size_t i = 1; i < tensors.size(); ++i) {
        const bool is_larger = allocations.requested[tensors[i]] > allocations.requested[tensors[i - 1]];
        grown += is_larger;
        sums += is_larger && is_sum(allocations, tensors[i - 1], tensors[i]);
    }
    const bool is_joined = joins_tensors(trace.origins[allocations.origin[site.now.back()]].op);
    return tensors.size() >= fewest_sizes && grown * 2 >= tensors.size() && (is_joined || sums * 2 > grown);
}

int64_t count_growing_tensors(const Site& site, const DeviceHistory& device, const Iterations& iterations) {
    const EventNumber begin = iterations.all().back().first;
    const int64_t count = std::count_if(site.now.begin(), site.now.end(),
                                        [&](AllocationIndex a) { return device.allocations.alloc_event[a] >= begin; });
    return std::max<int64_t>(1, count);
}

}  // namespace tidemark
