// Where a request could have fitted if a few blocks were not there.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/replay/memory_state.h"

namespace tidemark {

/// A stretch of one segment, at least as long as the request, with the fewest bytes of blocks in it.
struct Window {
    uint64_t address = 0, size = 0;
    int64_t in_use = 0;                   ///< bytes of blocks that lie in it
    std::vector<AllocationIndex> blocks;  ///< these blocks
};

/// The best one of all segments; blocks: empty if no segment is as large as that. In O(blocks).
Window cheapest_window(const MemoryState& state, uint64_t bytes);

}  // namespace tidemark
