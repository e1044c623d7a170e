// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A result that is alive until the next one exists, as in `out = model(batch)`, in a trace that is too short for
// `stale-local`: two to four repetitions of the same allocations.
#pragma once

#include <string>

#include "storage/explain/analysis_context.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns the largest allocation at the peak that the same line of the next repetition replaces; no_allocation if
/// there is none, or if repetitions do not fill the trace.
AllocationIndex find_old_result(const AnalysisContext& context);

/// Names the line and the fix; "" if there is no such result.
std::string old_result_words(const AnalysisContext& context, const Words& words);

}  // namespace tidemark
