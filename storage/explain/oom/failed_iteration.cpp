// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/oom/failed_iteration.h"

namespace tidemark {
namespace {

/// In the first iterations libraries try algorithms, and optimizers create their state.
constexpr size_t warm_up = 2;

}  // namespace

std::optional<FailedIteration> find_failed_iteration(const AnalysisContext& context, EventNumber oom) {
    const Iterations& iterations = context.iterations();
    const int64_t at = iterations.at(oom);
    if (iterations.empty() || at < 0) {
        return std::nullopt;
    }
    // A loop's last iteration ends at the context's time point, so it contains the error.
    const size_t good = std::min(static_cast<size_t>(at), iterations.size());
    if (good == 0) {
        return std::nullopt;
    }
    return FailedIteration{iterations[good - 1].last, oom, good};
}

Extremes peak_of_iteration(const AnalysisContext& context, size_t iteration) {
    const Iteration& range = context.iterations()[iteration];
    return context.curves().extremes(Series::allocated, range.first, range.last);
}

ExtremeIterations extreme_iterations(const AnalysisContext& context, const FailedIteration& failed) {
    const size_t first = failed.good > warm_up ? warm_up : 0;
    ExtremeIterations found{first, first};
    for (size_t i = first; i < failed.good; ++i) {
        const int64_t peak = peak_of_iteration(context, i).max;
        found.highest = peak > peak_of_iteration(context, found.highest).max ? i : found.highest;
        found.lowest = peak < peak_of_iteration(context, found.lowest).max ? i : found.lowest;
    }
    return found;
}

}  // namespace tidemark
