// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Optimizers that stepped and do not step any more while the program goes on: that of an earlier phase, or of a
// training that is followed by a long evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

struct UnusedOptimizer {
    std::string name;                     ///< "AdamW", its class
    std::vector<AllocationIndex> memory;  ///< allocated by its steps for its state; most bytes first
    int64_t bytes = 0;
    size_t steps = 0;
    int64_t first_step = 0, last_step = 0;  ///< ns since trace start: begin of the first one, end of the last one
    size_t later_steps = 0;                 ///< of other optimizers, after its last one
    const Referrer* referrer = nullptr;     ///< of its state or its parameters, through the optimizer; nullptr: unknown
    size_t links = 0;                       ///< of the referrer, up to the optimizer
    bool is_other_element = false;          ///< the referrer leads to another optimizer of the list that has this one
};

/// Returns the largest unused optimizers at the context's time point, most bytes first: idle for two fifths of the time
/// since their first step, for three times as long as ever between two steps, and while the program allocated. Of
/// optimizers of one class that step at one line, all must be idle. Returns nothing without a graph, for small parts of
/// the allocated memory, and with CUDA graphs, whose replays step without a record.
std::vector<UnusedOptimizer> find_unused_optimizers(const AnalysisContext& context);

}  // namespace tidemark
