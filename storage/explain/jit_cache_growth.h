// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Arrays that the cache of jax.jit retains, more and more of them: it keeps static arguments, and so all that these
// refer to.
#pragma once

#include <optional>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns the finding if the scan at the end found most arrays in the cache, and the scans before it ever fewer.
std::optional<Finding> jit_cache_growth(const AnalysisContext& context, const Words& words);

}  // namespace tidemark
