// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Surviving allocations: allocations that exist after the end of their iteration, summed by the stack that allocated
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/explain/iterations.h"
#include "storage/explain/trend.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// All allocations of one stack in one phase.
struct Site {
    StackId stack = 0;
    bool is_backward = false;      ///< whether a backward pass allocated; it has the stack of its forward op
    uint32_t origin = 0;           ///< position in Trace::origins, of its first allocation: op, module, phase
    std::vector<int64_t> level;    ///< bytes of blocks at the end of each slice; requested ones if only those rise
    Trend trend;                   ///< of level
    int64_t bytes = 0, count = 0;  ///< allocated at the context's time point
    int64_t total_bytes = 0, total_count = 0;  ///< ever allocated
    std::vector<AllocationIndex> now;          ///< allocated at that point, by age; at most 4096: the oldest and newest
};

/// Returns all allocations of a site's stack in its phase, by age: those freed, and those made after the time point,
/// too. Visits all allocations once.
std::vector<AllocationIndex> allocations_of(const Site& site, const Trace& trace, const DeviceHistory& device);

/// Immutable. Thread: any.
class SurvivingAllocations {
public:
    SurvivingAllocations() = default;
    /// Visits the allocations once. `now`: the context's time point.
    SurvivingAllocations(const Trace& trace, const DeviceHistory& device, const Iterations& iterations,
                         EventNumber now);

    /// Returns the sites, most bytes at the time point first.
    const std::vector<Site>& sites() const { return sites_; }
    /// Returns one site for each line that several stacks call, if the sum of their levels rises, and none does alone
    /// of those that have memory now: training and evaluation may replace each other's tensors. Its stack is the one
    /// with most bytes.
    const std::vector<Site>& rising_lines() const { return rising_lines_; }
    /// Returns how many iterations form one slice of Site::level; there are at most 256 slices.
    size_t iterations_per_slice() const { return iterations_per_slice_; }

private:
    std::vector<Site> sites_, rising_lines_;
    size_t iterations_per_slice_ = 1;
};

}  // namespace tidemark
