// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/shared_lifetimes.h"

#include <algorithm>

namespace tidemark {
namespace {

constexpr size_t fewest_removed = 3;  ///< two may be freed together by chance

/// Returns the one of `sorted` that is nearest to `to`. Requires elements.
AllocationIndex nearest(const std::vector<AllocationIndex>& sorted, AllocationIndex to) {
    const auto after = std::lower_bound(sorted.begin(), sorted.end(), to);
    if (after == sorted.end() || (after != sorted.begin() && to - *(after - 1) < *after - to)) {
        return *(after - 1);
    }
    return *after;
}

}  // namespace

bool share_lifetimes(const Site& site, const Site& other, const Trace& trace, const DeviceHistory& device) {
    const std::vector<AllocationIndex> own = allocations_of(site, trace, device);
    const std::vector<AllocationIndex> others = allocations_of(other, trace, device);
    if (others.size() < own.size()) {
        return false;
    }
    const Allocations& allocations = device.allocations;
    // Returns how many of the site's allocations had been made when one was freed.
    const auto made_before_free = [&](AllocationIndex a) {
        const auto end = std::partition_point(own.begin(), own.end(), [&](AllocationIndex one) {
            return allocations.alloc_event[one] < allocations.free_event[a];
        });
        return static_cast<size_t>(end - own.begin());
    };
    size_t removed = 0;
    for (size_t i = 0; i < own.size(); ++i) {
        const AllocationIndex sibling = nearest(others, own[i]);
        const size_t end = made_before_free(own[i]);
        if (end != made_before_free(sibling)) {
            return false;
        }
        removed += end < own.size() && end > i + 1;
    }
    return removed >= fewest_removed;
}

}  // namespace tidemark
