// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What accumulates of models: parameters, buffers, gradients, optimizer state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/text/words.h"

namespace tidemark {

struct ModelParts {
    int64_t parameters = 0;       ///< number of parameters and buffers
    int64_t parameter_bytes = 0;  ///< of parameters and buffers
    int64_t gradient_bytes = 0;
    int64_t state_bytes = 0;  ///< of optimizers
    std::string model;        ///< class of most of them; empty: unknown
    int64_t same_name = 0;    ///< number of its tensors that have the most frequent name: models, or optimizers

    int64_t total() const { return parameter_bytes + gradient_bytes + state_bytes; }
    /// Returns "parameters 96.0 MiB, gradients 96.0 MiB and optimizer state 12.0 MiB". Adds "other tensors 4.00 MiB" if
    /// these parts leave more than 1 % of `all` bytes.
    std::string words_of_parts(int64_t all, const Words& words) const;
};

/// Returns the parts of a suspect at the context's time point. Needs a graph.
ModelParts model_parts_of(const AnalysisContext& context, const LeakSuspect& suspect);

}  // namespace tidemark
