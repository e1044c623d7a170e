// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Activations that a forward pass saved for a backward pass, recognized without a graph: a forward pass under no_grad
// frees what its modules allocate as soon as the next operation has used it.
#pragma once

#include <cstdint>
#include <string>

#include "storage/explain/analysis_context.h"
#include "storage/text/words.h"

namespace tidemark {

/// Block bytes of activations in a trace without a graph; 0 if nothing proves that there are any.
struct KeptActivations {
    int64_t waiting = 0;   ///< of the last forward pass, alive at the context's time point: no backward pass has begun
    int64_t earlier = 0;   ///< from before the history, alive at the context's time point
    int64_t dropped = 0;   ///< alive at the peak and freed since, in a history without a backward pass
    int64_t outlived = 0;  ///< from before the last backward pass, alive at the context's time point
    int64_t used = 0;      ///< alive at the peak and freed since; a backward pass may have used them
    bool has_backward = false;  ///< a backward pass or an optimizer may have run in the history
};

KeptActivations find_kept_activations(const AnalysisContext& context);

/// Says what the activations wait for; "" if there are none, or if they are little beside the peak.
std::string kept_activations_words(const AnalysisContext& context, const KeptActivations& kept, const Words& words);

}  // namespace tidemark
