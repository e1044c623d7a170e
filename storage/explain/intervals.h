// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Intervals: the parts of a run in each of which one loop repeats. A program may evaluate after training, or serve
// requests after it has loaded a model; growth in one interval does not show in the iterations of another.
#pragma once

#include <optional>
#include <vector>

#include "storage/explain/iterations.h"
#include "storage/explain/surviving_allocations.h"

namespace tidemark {

struct Interval {
    Iterations iterations;
    SurvivingAllocations surviving;  ///< by these iterations
};

/// Returns the loop after the last iteration of `main`, if memory that exists at `now` was allocated there.
std::optional<Iterations> loop_after(const Trace& trace, const DeviceHistory& device, const Curves& curves,
                                     const Iterations& main, EventNumber now);

/// Returns the intervals, the one of `main` first, and then the loop after its last iteration.
std::vector<Interval> find_intervals(const Trace& trace, const DeviceHistory& device, const Curves& curves,
                                     Iterations main, EventNumber now);

}  // namespace tidemark
