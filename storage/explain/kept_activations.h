// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Activations of a forward pass whose backward pass the trace does not have, recognized without a graph: a forward pass
// under no_grad frees what its modules allocate as soon as the next operation has used it.
#pragma once

#include <cstdint>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// Returns the block bytes that the modules of the last forward pass allocated and that it keeps at the context's time
/// point; 0 if it keeps little, if few lines made it (a cache, or an output), or if a backward pass may have begun.
int64_t kept_activations(const AnalysisContext& context);

}  // namespace tidemark
