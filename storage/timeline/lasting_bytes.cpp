// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/timeline/lasting_bytes.h"

#include <algorithm>

namespace tidemark {

namespace {

constexpr size_t changes_between_sums = 512;

}  // namespace

LastingBytes::LastingBytes(const Allocations& all, const AliveIndex& live, const Grouping& grouping)
    : groups_(grouping.names.size()), end_(live.lasting_end()) {
    changes_.reserve(live.lasting_count());
    for (uint32_t i = 0; i < live.lasting_count(); ++i) {
        const AllocationIndex a = live.lasting(i);
        const auto bytes = static_cast<int64_t>(all.block_size[a]);
        EventNumber event = all.alloc_event[a];
        uint16_t group = grouping.group_of[a];
        changes_.push_back({event, group, bytes});
        for (const GroupChange& change : grouping.changes_of(a)) {
            event = std::max(event, change.event - 1);
            changes_.push_back({event, group, -bytes});
            changes_.push_back({event, change.group, bytes});
            group = change.group;
        }
    }
    const auto earlier = [](const Change& x, const Change& y) { return x.event < y.event; };
    if (!std::is_sorted(changes_.begin(), changes_.end(), earlier)) {
        std::sort(changes_.begin(), changes_.end(), earlier);
    }
    sum_up();
}

void LastingBytes::sum_up() {
    std::vector<int64_t> sums(groups_);
    for (size_t i = 0; i < changes_.size(); ++i) {
        if (i % changes_between_sums == 0) {
            sums_.insert(sums_.end(), sums.begin(), sums.end());
        }
        sums[changes_[i].group] += changes_[i].bytes;
    }
}

void LastingBytes::add_at(EventNumber n, int64_t* sums) const {
    const auto after = std::lower_bound(changes_.begin(), changes_.end(), n,
                                        [](const Change& c, EventNumber e) { return c.event < e; });
    if (after == changes_.begin() || n > end_) {
        return;
    }
    const size_t known = static_cast<size_t>(after - changes_.begin() - 1) / changes_between_sums;
    for (size_t g = 0; g < groups_; ++g) {
        sums[g] += sums_[known * groups_ + g];
    }
    for (auto change = changes_.begin() + static_cast<ptrdiff_t>(known * changes_between_sums); change != after;
         ++change) {
        sums[change->group] += change->bytes;
    }
}

}  // namespace tidemark
