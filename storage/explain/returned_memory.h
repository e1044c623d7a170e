// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory that was returned to the driver: by empty_cache(), of which the allocator may request a part again, or by the
// allocator itself, for a request that the driver had refused.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// One call of torch.cuda.empty_cache().
struct ReturnedMemory {
    EventNumber event = 0;  ///< the state before it
    int64_t bytes = 0;
    int64_t taken_again = 0;           ///< bytes requested from the driver before the next such call, at most `bytes`
    std::optional<int64_t> free_time;  ///< ns in the driver's calls; nothing if they were not recorded
    int64_t ask_time = 0;              ///< ns: an upper bound for the calls that requested memory again
    StackId stack = 0;
};

/// Returns the calls, sorted by event.
std::vector<ReturnedMemory> returned_memory(const AnalysisContext& context);

/// A request that the driver refused at first. The allocator returned its cached segments, and then it succeeded.
struct Retry {
    EventNumber event = 0;  ///< the state before it
    int64_t bytes = 0;      ///< returned
    AllocationIndex request = no_allocation;
};

/// Returns the retries, sorted by event. Empty if the allocator's settings let it return memory for other reasons, too.
std::vector<Retry> retries(const AnalysisContext& context);

}  // namespace tidemark
