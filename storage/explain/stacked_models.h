// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Models whose parameters torch.stack() copied into parameters of their own, as torch.func.stack_module_state() does,
// while the originals stay and are not used any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

struct StackedModels {
    std::vector<AllocationIndex> memory;   ///< the original parameters; most bytes first
    std::string model;                     ///< "Forecaster": of most bytes, the first part of their names
    int64_t bytes = 0;                     ///< of the originals, as requested
    AllocationIndex copy = no_allocation;  ///< one of the copies
    int64_t since = 0;                     ///< ns since trace start: the last copy was made
    size_t idle = 0;                       ///< iterations that used a copy
    const Referrer* referrer = nullptr;    ///< of an original; nullptr: unknown
};

/// Returns the originals at the context's time point, by the call that stacked them, most bytes first. The graph proves
/// what was used: a leaf that a recorded operation uses gets an AccumulateGrad. Nothing but torch.stack() used the
/// originals, no backward pass went through it, and ten iterations used the copies. Without a graph (no_grad) the use
/// of an original is seen only when its module runs; so modules of these names may have run only in functional_call(),
/// which replaces their parameters. Returns nothing without a graph, for small parts of the allocated memory, and with
/// CUDA graphs, whose replays are not recorded. Visits the nodes and the allocations once.
std::vector<StackedModels> find_stacked_models(const AnalysisContext& context);

}  // namespace tidemark
