// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/allocation_levels.h"

#include <algorithm>

namespace tidemark {

std::vector<AllocationLevel> levels_of(const DeviceHistory& device, std::span<const AllocationIndex> allocations) {
    const Allocations& all = device.allocations;
    std::vector<AllocationLevel> changes;
    changes.reserve(2 * allocations.size());
    for (const AllocationIndex a : allocations) {
        const auto bytes = static_cast<int64_t>(all.block_size[a]);
        changes.push_back({std::max<EventNumber>(all.alloc_event[a] + 1, 0), bytes, 1});
        if (all.free_event[a] != never) {
            changes.push_back({all.free_event[a] + 1, -bytes, -1});
        }
    }
    std::sort(changes.begin(), changes.end(),
              [](const AllocationLevel& a, const AllocationLevel& b) { return a.state < b.state; });
    std::vector<AllocationLevel> levels;
    AllocationLevel level;
    for (size_t i = 0; i < changes.size(); ++i) {
        level = {changes[i].state, level.bytes + changes[i].bytes, level.count + changes[i].count};
        const bool is_last_of_state = i + 1 == changes.size() || changes[i + 1].state != level.state;
        const AllocationLevel before = levels.empty() ? AllocationLevel{} : levels.back();
        if (is_last_of_state && (level.bytes != before.bytes || level.count != before.count)) {
            levels.push_back(level);
        }
    }
    return levels;
}

AllocationLevel level_at(std::span<const AllocationLevel> levels, EventNumber state) {
    const auto after = std::upper_bound(levels.begin(), levels.end(), state,
                                        [](EventNumber at, const AllocationLevel& level) { return at < level.state; });
    return after == levels.begin() ? AllocationLevel{state, 0, 0} : *std::prev(after);
}

}  // namespace tidemark
