// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Caches of many streams: the allocator gives freed memory only to later requests of the same stream, so a program that
// makes new streams in each iteration reserves memory for each of them.
#pragma once

#include <cstdint>
#include <optional>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// The streams on which memory was first requested after the first iteration.
struct StreamCaches {
    int64_t streams = 0;
    int64_t reserved = 0;                     ///< bytes of their segments at the context's time point
    int64_t in_use = 0;                       ///< highest bytes that were allocated on all of them together
    size_t since = 0;                         ///< position of the iteration that used the first of them
    AllocationIndex newest = no_allocation;   ///< the first allocation of the stream that was used last
    AllocationIndex largest = no_allocation;  ///< on one of these streams
};

/// Returns nothing if few streams are new, or if their memory is mostly in use at once.
std::optional<StreamCaches> find_stream_caches(const AnalysisContext& context);

}  // namespace tidemark
