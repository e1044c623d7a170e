// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds the address range where a request would fit if a few blocks were freed.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/replay/memory_state.h"

namespace tidemark {

/// A range of one segment, at least as long as the request, in which blocks use the fewest bytes.
struct GapCandidate {
    uint64_t address = 0, size = 0;
    int64_t in_use = 0;                   ///< bytes of the blocks in the range
    std::vector<AllocationIndex> blocks;  ///< these blocks
};

/// Returns the best range of all segments; `blocks` is empty if no segment is large enough. Takes O(blocks).
GapCandidate cheapest_gap(const MemoryState& state, uint64_t bytes);

}  // namespace tidemark
