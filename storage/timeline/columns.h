// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A time window divided into pixel columns. Each column shows one state: the one with most active memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/replay/active_walk.h"
#include "storage/timeline/curves.h"
#include "storage/timeline/grouping.h"
#include "storage/timeline/lasting_bytes.h"

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

/// Returns the bytes of active memory by group in each column, at the column's time point: result[column * groups +
/// group]. The sum over the groups of a column is its active bytes. `lasting`: of the same grouping.
std::vector<int64_t> stacked_bytes(const DeviceHistory& device, const AliveIndex& live, std::span<const Column> columns,
                                   const Grouping& grouping, const LastingBytes& lasting);

/// A rectangle of the allocations chart. The bands of a column are its active allocations from bottom to top.
struct Band {
    ActiveAllocation active;
    int64_t bottom, top;  ///< bytes below it and with it
};

/// The bands that a caller needs: those whose range [bottom, top) overlaps [low, high), in bytes.
struct BandsWanted {
    int64_t low = 0, high = INT64_MAX;
    /// Of lasting allocations only those that contain the middle of a row so high, from `low` up, or touch
    /// it: a picture shows no others of a million. 0: all.
    double row_bytes = 0;
    AllocationIndex also = no_allocation;  ///< even if no row shows it
};
/// Appends the bands of a column from bottom to top.
void bands_at(const DeviceHistory& device, ActiveWalk& live, const TimePoint& point, const BandsWanted& wanted,
              std::vector<Band>& out);

}  // namespace tidemark
