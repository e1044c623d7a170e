// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Layers with adapters, as LoRA makes them: a small trainable update beside a large weight that is to be frozen.
#pragma once

#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// Returns the state that an optimizer keeps for the weights of layers with adapters, by the names of the parameters.
/// If there is any, these weights are trained, which adapters are to avoid.
std::vector<AllocationIndex> state_of_adapted_weights(const AnalysisContext& context,
                                                      const std::vector<AllocationIndex>& state);

}  // namespace tidemark
