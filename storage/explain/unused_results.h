// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Results inside of a model that its last forward pass left behind: activations that a hook stored on the modules, or
// that a variable of the loop still retains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

struct UnusedResults {
    std::string module;                   ///< "Classifier": the results are those of the modules in it
    std::vector<AllocationIndex> memory;  ///< most bytes first
    int64_t bytes = 0;
    size_t modules = 0;         ///< that allocated it
    size_t passes = 0;          ///< each result was made in at least so many forward passes
    EventNumber last_used = 0;  ///< the last event of one of the modules
    size_t idle = 0;            ///< iterations since then, up to the context's time point
    /// Of one result of each stack, or of one that it replaced, if it is known.
    std::vector<const Referrer*> referrers;
};

/// Returns the results of models that do not run any more (see ModuleUses::is_idle()), most bytes first. A result that
/// is kept on purpose is made once, or those of all passes stay. These were made in at least three passes, always with
/// the same size; each replaced the one before, and only the last one stays. They are of several modules: the answer of
/// a model, or the state that it computes step by step, is of one. Returns nothing without a graph, for small parts of
/// the allocated memory, and with CUDA graphs, whose replays allocate nothing. Visits the allocations twice.
std::vector<UnusedResults> find_unused_results(const AnalysisContext& context);

}  // namespace tidemark
