// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Arguments that save_hyperparameters() of Lightning copied: it stores a deep copy of all of them, also of models and
// tensors, and reads from the copy only what it logs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

struct CopiedArguments {
    std::vector<AllocationIndex> memory;  ///< of one call of save_hyperparameters(); most bytes first
    std::vector<std::string> models;      ///< "VisionTransformer", most bytes first; empty: not recorded
    int64_t bytes = 0;
};

/// Returns the copies that exist at the context's time point, by the line that calls save_hyperparameters(), most bytes
/// first. Returns nothing for small parts of the allocated memory.
std::vector<CopiedArguments> find_copied_arguments(const AnalysisContext& context);

}  // namespace tidemark
