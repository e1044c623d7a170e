// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A window of time cut into pixel columns. Each column shows one state: the one with most active memory in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/replay/alive_index.h"
#include "storage/timeline/curves.h"

namespace tidemark {

enum class TimeAxis : uint8_t { wall_clock, event_index };

struct Column {
    EventNumber first = 0, last = 0;  ///< states the column covers
    EventNumber time_point = 0;       ///< the state drawn: where active memory was highest
    std::array<int64_t, series_count> min{}, max{};
};

/// `from` and `to` are ns since trace start, or event numbers, by `axis`. Empty columns repeat the state before.
std::vector<Column> make_columns(const DeviceHistory& device, const Curves& curves, TimeAxis axis, double from,
                                 double to, int count);

/// From the state at `event` on an allocation belongs to another group.
struct GroupChange {
    EventNumber event = 0;
    uint16_t group = 0;
};

/// How memory is divided in stacked pictures. `group_of[allocation]` is an index into `names`; the last group is "the
/// rest". Where memory may change sides while it is active (categories do: see group_by_category), group_of is where it
/// begins, and the changes of allocation a, by event, are [first_change[a], first_change[a + 1]). Ask group_at.
struct Grouping {
    std::vector<std::string> names;
    std::vector<uint16_t> group_of;
    std::vector<uint32_t> first_change{};  ///< empty: nothing ever changes
    std::vector<GroupChange> changes{};

    uint16_t group_at(AllocationIndex a, EventNumber state) const {
        uint16_t group = group_of[a];
        const uint32_t end = first_change.empty() ? 0 : first_change[a + 1];
        for (uint32_t c = first_change.empty() ? 0 : first_change[a]; c < end && changes[c].event <= state; ++c) {
            group = changes[c].group;
        }
        return group;
    }
};

/// Returns the bytes of active memory by group in each column, with the groups at its time point:
/// result[column * groups + group].
/// The groups of a column add up to its active bytes.
std::vector<int64_t> stacked_bytes(const DeviceHistory& device, const AliveIndex& live, std::span<const Column> columns,
                                   const Grouping& grouping);

/// The rectangles of the allocations picture: one column's active allocations from bottom to top.
struct Band {
    AllocationIndex allocation;
    int64_t bottom;  ///< bytes below it; its height is its block size
};
/// Appends the column's bands whose [bottom, top) meets [low, high) bytes.
void bands_at(const DeviceHistory& device, AliveIndex::Walk& live, EventNumber time_point, int64_t low, int64_t high,
              std::vector<Band>& out);

}  // namespace tidemark
