// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What a leak suspect has grown by at one of its sites. Not all of a site's memory needs to be a part of the growth.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/explain/leak_suspects.h"

namespace tidemark {

struct GrownMemory {
    int64_t bytes = 0, count = 0;
    std::vector<AllocationIndex> allocations;  ///< of which a share has grown, if not all
};

/// Returns what has grown of the allocations that belong to the suspect if the site lists all its allocations;
/// otherwise, and without a graph, the rise. `now`: the context's time point. Requires a position `suspect.since`
/// within the iterations.
GrownMemory grown_at(const Site& site, const LeakSuspect& suspect, const Iterations& iterations,
                     const GraphContext* graph, const Trace& trace, uint32_t position, EventNumber now);

}  // namespace tidemark
