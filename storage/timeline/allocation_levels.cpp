// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/allocation_levels.h"

#include <algorithm>

namespace tidemark {

std::vector<AllocationLevel> levels_of(const DeviceHistory& device, std::span<const AllocationIndex> allocations) {
    const Allocations& all = device.allocations;
    // Changes first, which become levels in place: a leak has a million of them.
    std::vector<AllocationLevel> levels;
    levels.reserve(2 * allocations.size());
    for (const AllocationIndex a : allocations) {
        const auto bytes = static_cast<int64_t>(all.block_size[a]);
        levels.push_back({std::max<EventNumber>(all.alloc_event[a] + 1, 0), bytes, 1});
        if (all.free_event[a] != never) {
            levels.push_back({all.free_event[a] + 1, -bytes, -1});
        }
    }
    const auto earlier = [](const AllocationLevel& a, const AllocationLevel& b) { return a.state < b.state; };
    if (!std::is_sorted(levels.begin(), levels.end(), earlier)) {
        std::sort(levels.begin(), levels.end(), earlier);
    }
    size_t kept = 0;
    AllocationLevel level;
    for (size_t i = 0; i < levels.size(); ++i) {
        level = {levels[i].state, level.bytes + levels[i].bytes, level.count + levels[i].count};
        const bool is_last_of_state = i + 1 == levels.size() || levels[i + 1].state != level.state;
        const AllocationLevel before = kept == 0 ? AllocationLevel{} : levels[kept - 1];
        if (is_last_of_state && (level.bytes != before.bytes || level.count != before.count)) {
            levels[kept++] = level;
        }
    }
    levels.resize(kept);
    return levels;
}

AllocationLevel level_at(std::span<const AllocationLevel> levels, EventNumber state) {
    const auto after = std::upper_bound(levels.begin(), levels.end(), state,
                                        [](EventNumber at, const AllocationLevel& level) { return at < level.state; });
    return after == levels.begin() ? AllocationLevel{state, 0, 0} : *std::prev(after);
}

}  // namespace tidemark
