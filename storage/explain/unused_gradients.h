// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Unused gradients: .grad of parameters that stays allocated although no optimizer updates the parameter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

enum class UnusedBecause : uint8_t {
    not_optimized,    ///< optimizers stepped several times, but never changed these parameters
    optimizer_ended,  ///< the optimizer that updated them is gone or does not step any more, while others do
    training_ended,   ///< the loop that repeats runs no backward pass and no optimizer
};

struct UnusedGradients {
    UnusedBecause because = UnusedBecause::not_optimized;
    std::vector<AllocationIndex> gradients;  ///< most bytes first
    std::vector<std::string> parts;          ///< "VisionTransformer.encoder", most bytes first
    int64_t bytes = 0;
    int64_t since = 0;     ///< ns since trace start: until when an optimizer updated the parameters; 0: never
    size_t steps = 0;      ///< optimizer steps that they outlived since then
    bool is_seen = false;  ///< whether the graph shows that the parameters did not change
};

/// Returns nothing without a graph, or if the gradients are a small part of the allocated memory.
std::optional<UnusedGradients> find_unused_gradients(const AnalysisContext& context);

}  // namespace tidemark
