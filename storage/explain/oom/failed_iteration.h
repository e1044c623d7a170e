// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The iteration that ran out of memory, and the iterations before it that fit.
#pragma once

#include <optional>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// The events from the start of the unfinished iteration to the error: [first, last).
struct FailedIteration {
    EventNumber first = 0, last = 0;
    size_t good = 0;  ///< number of complete iterations before it; they come first in Iterations
};

/// Returns nothing if no iteration was complete before the error.
std::optional<FailedIteration> find_failed_iteration(const AnalysisContext& context, const OtherEvent& oom);

/// Returns the highest allocated bytes of a complete iteration.
Extremes peak_of_iteration(const AnalysisContext& context, size_t iteration);

/// Returns the complete iteration with the highest peak, and that with the lowest. Skips the warm-up if there are more.
struct ExtremeIterations {
    size_t highest = 0, lowest = 0;
};
ExtremeIterations extreme_iterations(const AnalysisContext& context, const FailedIteration& failed);

}  // namespace tidemark
