// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A time window divided into pixel columns. Each column shows one state: the one with most active memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/replay/active_walk.h"
#include "storage/timeline/curves.h"

namespace tidemark {

enum class TimeAxis : uint8_t { wall_clock, event_index };

struct Column {
    EventNumber first = 0, last = 0;  ///< states of the column
    TimePoint time_point;             ///< what is drawn: the point with most active memory
    std::array<int64_t, series_count> min{}, max{};
};

/// Divides a window into columns. `from` and `to` are ns since trace start, or event numbers, depending on `axis`. A
/// column without events repeats the previous state. On the wall clock, repeated steps have the curves of the steps
/// that they repeat.
std::vector<Column> make_columns(const Trace& trace, const DeviceHistory& device, const Curves& curves, TimeAxis axis,
                                 double from, double to, int count);

/// The allocation belongs to another group from the state at `event` on.
struct GroupChange {
    EventNumber event = 0;
    uint16_t group = 0;
};

/// The groups of a stacked chart. `group_of[allocation]` is an index into `names`; the last group is "the rest". If an
/// allocation may change its group while it is active (as in group_by_category), group_of is its first group, and the
/// changes of allocation a, by event, are [first_change[a], first_change[a + 1]). Use group_at().
struct Grouping {
    std::vector<std::string> names;
    std::vector<uint16_t> group_of;
    std::vector<uint32_t> first_change{};  ///< empty: groups never change
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

/// Returns the bytes of active memory by group in each column, at the column's time point: result[column * groups +
/// group]. The sum over the groups of a column is its active bytes.
std::vector<int64_t> stacked_bytes(const DeviceHistory& device, const AliveIndex& live, std::span<const Column> columns,
                                   const Grouping& grouping);

/// A rectangle of the allocations chart. The bands of a column are its active allocations from bottom to top.
struct Band {
    ActiveAllocation active;
    int64_t bottom;  ///< bytes below it; the height is its block size
};
/// Appends the column's bands whose range [bottom, top) overlaps [low, high), in bytes.
void bands_at(const DeviceHistory& device, ActiveWalk& live, const TimePoint& point, int64_t low, int64_t high,
              std::vector<Band>& out);

}  // namespace tidemark
