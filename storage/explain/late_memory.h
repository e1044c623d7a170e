// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Late memory: memory that appeared after the warm-up, in one or a few iterations, and stays. It does not keep growing,
// so it is no leak, but the first iterations do not explain it either.
#pragma once

#include <span>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// Returns whether a model, an optimizer, a library or a private pool is known to retain the site's memory.
bool is_accounted_for(const AnalysisContext& context, const Site& site);

/// Late memory with one retention.
struct LateMemory {
    std::vector<const Site*> sites;            ///< most late bytes first
    SampledRetention retention;                ///< of a typical allocation of the first site
    int64_t bytes = 0;                         ///< at the context's time point
    std::vector<AllocationIndex> allocations;  ///< of these sites, without those of the warm-up
    size_t since = 0;                          ///< position of the iteration in which most of it appeared
    size_t begin = 0, end = 0;                 ///< positions of the iterations between which it rose by most of it
};

/// Returns whether the frame of a stored exception retains it.
bool is_by_exception(const LateMemory& late);

/// Returns late memory, most bytes first: at least 5 % of the allocated memory in total, otherwise nothing. Omits leak
/// suspects, parts of models and optimizers, workspaces, and the stacks in `explained`.
std::vector<LateMemory> find_late_memory(const AnalysisContext& context, const std::vector<StackId>& explained);

}  // namespace tidemark
