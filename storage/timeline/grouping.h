// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The groups of a stacked chart.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

/// The allocation belongs to another group from the state at `event` on.
struct GroupChange {
    EventNumber event = 0;
    uint16_t group = 0;
};

/// `group_of[allocation]` is an index into `names`; the last group is "the rest". If an allocation may change its group
/// while it is active (as in group_by_category), group_of is its first group, and the changes of allocation a, by
/// event, are [first_change[a], first_change[a + 1]). Use group_at().
struct Grouping {
    std::vector<std::string> names;
    std::vector<uint16_t> group_of;
    std::vector<uint32_t> first_change{};  ///< empty: groups never change
    std::vector<GroupChange> changes{};

    std::span<const GroupChange> changes_of(AllocationIndex a) const {
        return first_change.empty()
                   ? std::span<const GroupChange>()
                   : std::span(changes).subspan(first_change[a], first_change[a + 1] - first_change[a]);
    }
    uint16_t group_at(AllocationIndex a, EventNumber state) const {
        uint16_t group = group_of[a];
        const uint32_t end = first_change.empty() ? 0 : first_change[a + 1];
        for (uint32_t c = first_change.empty() ? 0 : first_change[a]; c < end && changes[c].event <= state; ++c) {
            group = changes[c].group;
        }
        return group;
    }
};

}  // namespace tidemark
