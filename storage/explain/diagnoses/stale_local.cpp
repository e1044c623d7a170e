// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #27: a variable retains the previous iteration's result while the next one is made: at the peak both exist.
#include <algorithm>
#include <map>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/element_wise.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr size_t fewest_iterations = 5;
/// Number of iterations that are examined, and number of iterations that must show the pattern.
constexpr size_t iterations_looked_at = 6, fewest_seen = 2;
/// If steps of another optimizer lie in between, the previous iteration may be up to this many steps ago.
constexpr size_t iterations_back = 3;
/// Iterations with peaks below this part of the highest one are not relevant.
constexpr double high_peak = 0.9;
/// A smaller saving does not lower a peak noticeably.
constexpr int64_t least_bytes = 1 << 20;
constexpr double least_part_of_peak = 0.05;
/// Less is worth a sentence, and no work.
constexpr double least_part_of_waste = 0.1;

/// A result of the previous iteration that exists at an iteration's peak.
struct StaleResult {
    AllocationIndex allocation = no_allocation, next = no_allocation;  ///< `next`: the result that replaces it
    EventNumber peak = 0;
    int64_t bytes = 0, lower = 0;  ///< `lower`: how much lower the peak would be without it
    size_t seen = 0;               ///< number of iterations in which it exists
};

class Search {
public:
    explicit Search(const AnalysisContext& context)
        : context_(context),
          allocations_(context.device().allocations),
          iterations_(context.iterations().with_events()) {}

    /// Returns the stale results by the line that allocated them.
    std::map<StackId, StaleResult> find() {
        const bool is_loop = context_.iterations().source() == IterationSource::loop;
        const size_t last = iterations_.size() - std::min<size_t>(iterations_.size(), is_loop ? 1 : 0);
        const size_t first = std::max<size_t>(2, last - std::min(last, iterations_looked_at));
        const std::vector<int64_t>& peaks = context_.allocated_peaks();
        int64_t highest = 0;
        for (size_t i = first; i < last; ++i) {
            highest = std::max(highest, peaks[iterations_[i]]);
        }
        for (size_t i = first; i < last; ++i) {
            if (static_cast<double>(peaks[iterations_[i]]) >= high_peak * static_cast<double>(highest)) {
                look_at(i);
            }
        }
        return std::move(found_);
    }

private:
    void look_at(size_t i) {
        const Iteration& iteration = context_.iterations()[iterations_[i]];
        const EventNumber oldest = context_.iterations()[iterations_[i - std::min(i, iterations_back)]].first;
        const Extremes peak = context_.curves().extremes(Series::allocated, iteration.first, iteration.last);
        const double least = std::max<double>(least_bytes, least_part_of_peak * static_cast<double>(peak.max));
        for (const AllocationIndex a : allocated_at(context_, peak.max_event)) {
            const auto bytes = static_cast<int64_t>(allocations_.block_size[a]);
            if (static_cast<double>(bytes) < least) {
                break;
            }
            if (!is_of_last_iteration(a, iteration, oldest) || !is_unneeded(a, peak.max_event)) {
                continue;
            }
            const AllocationIndex next = next_of_line(a, iteration);
            const EventNumber freed = allocations_.free_event[a];
            const int64_t later =
                context_.curves().extremes(Series::allocated, freed + 1, std::max(freed + 1, iteration.last)).max;
            const int64_t lower = std::min(bytes, peak.max - later);
            if (next != no_allocation && static_cast<double>(lower) >= least && !is_operand(a, next, iteration)) {
                StaleResult& stale = found_[allocations_.stack[a]];
                stale = {a, next, peak.max_event, bytes, lower, stale.seen + 1};
            }
        }
    }

    /// Returns whether it was allocated before this iteration and freed during it.
    bool is_of_last_iteration(AllocationIndex a, const Iteration& iteration, EventNumber oldest) const {
        return allocations_.alloc_event[a] < iteration.first && allocations_.free_event[a] < iteration.last &&
               allocations_.alloc_event[a] >= std::max(oldest, 0);
    }

    /// Returns whether no known use needs it at the peak.
    bool is_unneeded(AllocationIndex a, EventNumber state) const {
        const uint32_t segment = allocations_.segment[a];
        const bool is_prefetched =
            segment != no_segment && context_.trace().streams[context_.device().segments[segment].stream].handle != 0;
        if (is_prefetched || !context_.graph()) {
            return !is_prefetched;
        }
        const Category category =
            context_.graph()->categories.at({context_.device_position(), a}, context_.device().time_of_state(state));
        return category == Category::input || category == Category::output || category == Category::unknown;
    }

    /// Returns the next allocation of the same line and size after `a` in this iteration.
    AllocationIndex next_of_line(AllocationIndex a, const Iteration& iteration) const {
        for (AllocationIndex b = a + 1; b < allocations_.size() && allocations_.alloc_event[b] < iteration.last; ++b) {
            if (allocations_.stack[b] == allocations_.stack[a] && allocations_.origin[b] == allocations_.origin[a]) {
                const bool is_in_iteration = allocations_.alloc_event[b] >= iteration.first;
                const bool is_before_free = allocations_.alloc_event[b] < allocations_.free_event[a];
                return is_in_iteration && is_before_free && allocations_.requested[b] == allocations_.requested[a]
                           ? b
                           : no_allocation;
            }
        }
        return no_allocation;
    }

    /// Returns whether `old` is an operand of `next`, as in x = x * 2 or x = torch.cat([x, y])[-n:]: no other
    /// allocation at that time is as large as the result of an element-wise op, or all of this iteration are smaller
    /// together than what joins its operands.
    bool is_operand(AllocationIndex old, AllocationIndex next, const Iteration& iteration) const {
        const std::string_view op = context_.trace().origins[allocations_.origin[next]].op;
        const bool joins = is_join(op);
        if (!joins && !is_element_wise(op)) {
            return false;
        }
        uint64_t largest = 0, sum = 0;
        for (const AllocationIndex a : allocated_at(context_, allocations_.alloc_event[next])) {
            if (a != old) {
                largest = std::max<uint64_t>(largest, allocations_.requested[a]);
                sum += allocations_.alloc_event[a] >= iteration.first ? allocations_.requested[a] : 0;
            }
        }
        return (joins ? sum : largest) < allocations_.requested[next];
    }

    const AnalysisContext& context_;
    const Allocations& allocations_;
    const std::vector<size_t> iterations_;  ///< with events
    std::map<StackId, StaleResult> found_;
};

/// Returns a plain variable for which some heap scan found a result of this line; nullptr if there is none.
const Referrer* variable_of(const AnalysisContext& context, StackId line) {
    if (!context.graph()) {
        return nullptr;
    }
    for (const Referrer& referrer : context.graph()->tables().referrers) {
        const AllocationRef referenced = referrer.allocation;
        if (referenced && referenced.device == context.device_position() && is_variable(referrer) &&
            context.device().allocations.stack[referenced.index] == line) {
            return &referrer;
        }
    }
    return nullptr;
}

void report(Finding& finding, const AnalysisContext& context, const StaleResult& stale, const std::string& variable,
            const Words& words) {
    const auto bytes = with("bytes", format_bytes(stale.bytes));
    const auto line = with("line", finding.line);
    const auto iteration = with("iteration", iteration_words(context.iterations().source(), words));
    finding.title =
        words("the result of {line} from the last {iteration} exists until the next one is allocated", line, iteration);
    finding.text = {
        words("{line} allocates {bytes} every {iteration}. Its variable releases the old result only when the new one "
              "is assigned, because Python evaluates the right side first. Both exist at the peak.",
              line, bytes, iteration),
        words("Releasing the old result first lowers the peak by {lower}.", with("lower", format_bytes(stale.lower)))};
    if (!variable.empty()) {
        finding.text.push_back(words("The variable is `{name}`.", with("name", variable)));
    }
}

Finding make_finding(const AnalysisContext& context, const StaleResult& stale, const Words& words) {
    Finding finding = diagnoses::stale_local.new_finding();
    if (static_cast<double>(stale.lower) < least_part_of_waste * static_cast<double>(context.peak().max)) {
        finding.severity = Severity::pattern;
    }
    finding.confidence = Confidence::likely;
    finding.basis = words(
        "The allocator's events of {iterations} iterations show that the old result is freed right after the new one "
        "was allocated.",
        with("iterations", stale.seen));
    finding.bytes = stale.bytes;
    finding.memory = memory_of(context, {stale.allocation}, stale.peak);
    finding.component = ComponentKind::requested;
    set_line(finding, context, context.device().allocations.stack[stale.allocation]);
    const Referrer* referrer = variable_of(context, finding.stack);
    const std::string variable = referrer ? referrer_expression(context.graph()->tables(), *referrer) : std::string();
    if (referrer) {
        finding.referrer = referrer_words(context.graph()->tables(), words, *referrer);
    }
    report(finding, context, stale, variable, words);
    finding.evidence = {
        at_allocation(context, words("The result of the previous iteration"), stale.allocation),
        at_allocation(context, words("The new result is allocated, and the old one still exists"), stale.next),
        at_event(context, words("The peak of this iteration, with both results"), stale.peak),
        at_event(context, words("The old result is freed"),
                 context.device().allocations.free_event[stale.allocation] + 1)};
    finding.fixes = {{words("Delete the variable at the end of the iteration, or move the work of an iteration into a "
                            "function: its variables are released on return."),
                      variable.empty() ? std::string() : "del " + variable, stale.lower, std::nullopt}};
    finding.unknowns = {words(
        "The recording does not show whether the new result is computed from the old one; if it is, both are needed.")};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (context.iterations().size() < fewest_iterations) {
        return;
    }
    for (const auto& [stack, stale] : Search(context).find()) {
        if (stale.seen >= fewest_seen) {
            findings.push_back(make_finding(context, stale, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::stale_local{FindingKind::stale_local, Severity::waste, DiagnosisPhase::observation, run};

}  // namespace tidemark
