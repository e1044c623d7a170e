// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/oom/failed_iteration.h"

namespace tidemark {
namespace {

/// In the first iterations libraries try algorithms, and optimizers create their state.
constexpr size_t warm_up = 2;

/// Returns whether the request is the one with which the iterations of a loop begin: it begins one itself.
bool begins_iteration(const AnalysisContext& context, const Iteration& iteration, const OtherEvent& oom) {
    if (iteration.first >= oom.event) {
        return false;
    }
    const EventRef first = context.device().event_ref[static_cast<size_t>(iteration.first)];
    return first.action() == Action::alloc && context.device().allocations.stack[first.index()] == oom.stack;
}

}  // namespace

std::optional<FailedIteration> find_failed_iteration(const AnalysisContext& context, const OtherEvent& oom) {
    const Iterations& iterations = context.iterations();
    const int64_t at = iterations.at(oom.event);
    if (iterations.empty() || at < 0) {
        return std::nullopt;
    }
    // A loop's last iteration ends at the context's time point, so it contains the error.
    const size_t good = std::min(static_cast<size_t>(at), iterations.size());
    if (good < iterations.size() && iterations.source() == IterationSource::loop &&
        begins_iteration(context, iterations[good], oom)) {
        return FailedIteration{oom.event, oom.event, good + 1};
    }
    if (good == 0) {
        return std::nullopt;
    }
    return FailedIteration{iterations[good - 1].last, oom.event, good};
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
