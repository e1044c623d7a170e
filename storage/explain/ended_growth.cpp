// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/ended_growth.h"

#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/derivative_graphs.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/cross_iteration_graph.h"
#include "storage/explain/small_views.h"

namespace tidemark {
namespace {

constexpr size_t most_parts = 2;
constexpr size_t fewest_iterations = 10;  ///< a few, as those of an inner loop of updates, may be all there ever are
constexpr EventNumber much_longer = 8;    ///< than the iterations around it
constexpr int64_t least_fraction = 20;    ///< of the highest allocated memory, by which memory rises: 1 / 20
constexpr int64_t least_bytes = 1 << 20;  ///< by which it rises

struct Rise {
    RunPart part;
    int64_t bytes = 0;
};

EventNumber length_of(const Iteration& iteration) { return iteration.last - iteration.first; }

/// Returns the parts that are much longer than the iterations around them. What runs between two iterations counts as
/// part of the later one.
std::vector<RunPart> work_between(const Iterations& main, EventNumber now) {
    std::vector<RunPart> parts;
    for (size_t i = 1; i + 1 < main.size(); ++i) {
        if (length_of(main[i]) > much_longer * std::max(length_of(main[i - 1]), length_of(main[i + 1]))) {
            parts.push_back({main[i].first, std::min(main[i].last, now)});
        }
    }
    const Iteration& last = main.all().back();
    if (now - last.last > much_longer * length_of(last)) {
        parts.push_back({last.last, now});
    }
    return parts;
}

Rise rise_of(const RunPart& part, const Curves& curves) {
    const Extremes extremes = curves.extremes(Series::allocated, *part.from, *part.at);
    return {{part.from, extremes.max_event}, extremes.max - curves.value(Series::allocated, *part.from)};
}

struct Freed {
    int64_t left = 0;  ///< bytes that exist at the context's time point
    EventNumber last = 0;
};

/// Returns what became of a suspect's memory by the context's time point.
Freed freed_of(const AnalysisContext& context, const LeakSuspect& suspect) {
    const Allocations& allocations = context.device().allocations;
    Freed freed;
    for (const Site* site : suspect.sites) {
        for (const AllocationIndex a : site->now) {
            const EventNumber end = allocations.free_event[a];
            if (end >= context.now()) {
                freed.left += static_cast<int64_t>(allocations.block_size[a]);
            } else {
                freed.last = std::max(freed.last, end);
            }
        }
    }
    return freed;
}

/// Returns whether a graph that no backward pass executes continues from iteration to iteration. A graph that one
/// executes at last was needed: the gradients of a loop of updates lead through all of them.
bool is_endless_graph(const AnalysisContext& part, const LeakSuspect& suspect) {
    const std::optional<Link> link = cross_iteration_link(part, suspect);
    if (!link) {
        return false;
    }
    const std::vector<int64_t>& executed = part.graph()->tables().nodes.executed;
    return executed[link->later] == never_happened && executed[link->earlier] == never_happened;
}

/// Returns whether at least half of the suspect's memory is freed without an allocation in between, or never: no
/// backward pass executes the graph that retained it.
bool is_freed_at_once(const AnalysisContext& part, const LeakSuspect& suspect) {
    const Allocations& allocations = part.device().allocations;
    std::vector<EventNumber> freed;
    for (const Site* site : suspect.sites) {
        for (const AllocationIndex a : site->now) {
            freed.push_back(allocations.free_event[a]);
        }
    }
    std::sort(freed.begin(), freed.end());
    const EventNumber first = freed[freed.size() / 4], last = freed[freed.size() - 1 - freed.size() / 4];
    const auto& made = allocations.alloc_event;
    return std::lower_bound(made.begin(), made.end(), first) == std::lower_bound(made.begin(), made.end(), last);
}

bool is_of_small_views(const AnalysisContext& part, const LeakSuspect& suspect) {
    return suspect.referrer && is_view(*suspect.referrer) && !suspect.through_graph() &&
           SmallViews(part.graph()->tables()).of(*suspect.referrer);
}

}  // namespace

std::vector<RunPart> parts_between_iterations(const AnalysisContext& context) {
    std::vector<Rise> rises;
    if (context.graph() && !context.iterations().empty() && !context.out_of_memory()) {
        for (const RunPart& part : work_between(context.iterations(), context.now())) {
            rises.push_back(rise_of(part, context.curves()));
        }
    }
    const int64_t highest = context.peak().max;
    std::erase_if(rises,
                  [&](const Rise& rise) { return rise.bytes < std::max(least_bytes, highest / least_fraction); });
    std::sort(rises.begin(), rises.end(), [](const Rise& a, const Rise& b) { return a.bytes > b.bytes; });
    std::vector<RunPart> parts;
    for (const Rise& rise : rises) {
        if (parts.size() < most_parts) {
            parts.push_back(rise.part);
        }
    }
    return parts;
}

bool is_needless_growth(const AnalysisContext& context, const AnalysisContext& part, const LeakSuspect& suspect) {
    if (suspect.iterations->size() < suspect.since + fewest_iterations) {
        return false;
    }
    // Views that are freed with their loop do as little harm as any other list of results.
    const bool is_of_views = is_of_small_views(part, suspect) && freed_of(context, suspect).left * 2 > suspect.bytes;
    const bool is_of_derivatives = is_of_derivative_graphs(part, suspect) && is_freed_at_once(part, suspect);
    return is_of_views || is_of_derivatives || is_endless_graph(part, suspect);
}

void add_end(Finding& finding, const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const auto count = static_cast<int64_t>(suspect.iterations->size());
    const auto iterations = with("iterations", iterations_words(suspect.iterations->source(), count, words));
    const Freed freed = freed_of(context, suspect);
    finding.has_ended = true;
    if (freed.left > 0) {
        finding.text.push_back(words(
            "This loop ended after {iterations}; {bytes} of its memory are still allocated at "
            "{time_point}.",
            iterations, with("bytes", format_bytes(freed.left)), with("time_point", time_point_name(context, words))));
        return;
    }
    finding.text.push_back(
        words("This loop ended after {iterations}, and its memory was freed then. The peak rises with the number of "
              "iterations.",
              iterations));
    finding.evidence.push_back(at_event(context, words("The memory of the loop is freed"), freed.last + 1));
}

}  // namespace tidemark
