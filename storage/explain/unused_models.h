// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Models, or parts of models, that ran once and do not run any more while others do: a teacher whose answers were
// stored, the encoder of an earlier phase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

struct UnusedModel {
    std::string module;                   ///< "Distillation.teacher", as in origins and labels
    std::vector<AllocationIndex> memory;  ///< its parameters, buffers, gradients and optimizer state; most bytes first
    int64_t bytes = 0;
    EventNumber last_used = 0;  ///< the last event of one of its modules
    size_t idle = 0;            ///< iterations since then, up to the context's time point
};

/// Returns the largest unused models at the context's time point, most bytes first: idle for half of the iterations,
/// for ten of them, and for three times as long as ever before. Returns nothing without a graph or modules, for small
/// parts of the allocated memory, and with CUDA graphs, whose replays allocate nothing. Visits the allocations twice.
std::vector<UnusedModel> find_unused_models(const AnalysisContext& context);

}  // namespace tidemark
