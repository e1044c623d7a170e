// Who outlives its round: allocations added up by the place in the program that made them, round by round.
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
    uint32_t origin = 0;           ///< index into Trace::origins, of its first allocation: op, module, phase
    std::vector<int64_t> level;    ///< bytes allocated at the end of each slice (see Survivors::slice_rounds)
    Trend trend;                   ///< of level
    int64_t bytes = 0, count = 0;  ///< allocated now, at the moment the case is about
    int64_t total_bytes = 0, total_count = 0;  ///< ever allocated
    std::vector<AllocationIndex> now;          ///< allocated now, by age; at most 4096: the oldest and the newest
};

/// Immutable. Thread: any.
class SurvivingAllocations {
public:
    SurvivingAllocations() = default;
    /// In one walk over the allocations. `now`: the state the case is about.
    SurvivingAllocations(const Trace& trace, const DeviceHistory& device, const Iterations& iterations, EventNumber now);

    /// Most bytes now first.
    const std::vector<Site>& sites() const { return sites_; }
    /// Levels are kept per slice of so many rounds: at most 256 slices.
    size_t iterations_per_slice() const { return iterations_per_slice_; }

private:
    std::vector<Site> sites_;
    size_t iterations_per_slice_ = 1;
};

}  // namespace tidemark
