// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Pinned gaps: free gaps beside tensors that stay, in which nothing was allocated since these tensors were, or since
// the allocator last needed more memory from the driver. A segment with a tensor cannot be returned to the driver, so
// the gaps are lost to this program and to all others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// A segment with pinned gaps.
struct PinnedSegment {
    int64_t free = 0;                         ///< bytes of its pinned gaps
    AllocationIndex largest = no_allocation;  ///< the largest block beside them
};

struct PinnedGaps {
    std::vector<PinnedSegment> segments;  ///< most free bytes first
    int64_t free = 0;                     ///< bytes of all pinned gaps
    int64_t in_use = 0;                   ///< bytes of the blocks in these segments
    int64_t of_same_line = 0;  ///< of `free`: gaps that last had a tensor of the same line as the tensor beside them
};

/// Returns the gaps at the context's time point that are older than the last quarter of the run. Gaps beside the
/// program's data count as well if work was repeated after the last segment from the driver. Returns nothing if
/// they are small beside the peak of allocated memory, or if the program needed no more memory from the driver after
/// they were left.
std::optional<PinnedGaps> find_pinned_gaps(const AnalysisContext& context);

}  // namespace tidemark
