// Memory the allocator gave back to the driver because it was told to, and what it asked for again.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// One call of torch.cuda.empty_cache().
struct ReturnedMemory {
    EventNumber event = 0;  ///< the state before it
    int64_t bytes = 0;
    int64_t taken_again = 0;           ///< bytes asked from the driver before the next such call, at most `bytes`
    std::optional<int64_t> free_time;  ///< ns in the driver's calls; nothing: they were not recorded
    int64_t ask_time = 0;              ///< ns: at most so much passed in the calls that asked again
    StackId stack = 0;
};

/// By event.
std::vector<ReturnedMemory> returned_memory(const AnalysisContext& context);

}  // namespace tidemark
