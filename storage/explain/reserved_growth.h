// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reserved memory beyond what tensors ever needed at once: the allocator took segments from the driver although enough
// memory was free, because no free gap was large enough.
#pragma once

#include <map>
#include <optional>

#include "storage/explain/analysis_context.h"

namespace tidemark {

struct ReservedGrowth {
    int64_t reserved = 0, allocated = 0;      ///< peaks
    int64_t segments = 0;                     ///< taken although at least as much was free as was requested
    int64_t bytes = 0;                        ///< of these segments
    EventNumber last = 0;                     ///< state before the last of them
    AllocationIndex request = no_allocation;  ///< that caused it
    int64_t free = 0;                         ///< bytes in that state
    std::map<StackId, int64_t> by_stack;      ///< bytes of these segments, by the stack of the request
};

/// Returns the allocation for which PyTorch took a segment at this event: the next event that is no arrival of a
/// segment. Returns no_allocation if that is no allocation.
AllocationIndex request_of(const DeviceHistory& device, EventNumber segment_event);

/// Returns the least bytes that are much beside this peak of allocated memory.
int64_t least_unusable_bytes(int64_t peak);

/// Returns nothing if reserved memory follows the peaks of allocated memory.
std::optional<ReservedGrowth> find_reserved_growth(const AnalysisContext& context);

/// Reserved bytes at the end of the first and of the last iteration.
struct ReservedRise {
    int64_t first = 0, last = 0;
};

/// Returns nothing unless reserved memory rises in each quarter of the iterations, by much in all of them.
std::optional<ReservedRise> find_reserved_rise(const AnalysisContext& context);

}  // namespace tidemark
