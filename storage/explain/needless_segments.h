// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Needless segments: memory that PyTorch requested from the driver although a block was free already, of the right
// pool, stream and size, but pending: another stream might still use it.
#pragma once

#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

struct NeedlessSegments {
    int64_t bytes = 0, count = 0;          ///< of the segments that existed at once, at most
    EventNumber last = 0;                  ///< state before the last of them
    EventNumber most_pending_at = 0;       ///< state before the one with most bytes pending free
    int64_t most_pending = 0;              ///< bytes in that state
    std::vector<AllocationIndex> pending;  ///< pending free in that state
};

/// Each pending block counts for one segment. Bytes are 0 if there are none. Visits the events once.
NeedlessSegments find_needless_segments(const AnalysisContext& context);

}  // namespace tidemark
