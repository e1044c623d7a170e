// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Several results of one line, such as an attribute of each layer, that nothing replaces until the next iteration makes
// its own: `self.attention = weights.detach()`.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

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
/// One or two results are results of the iteration, which the program may use until the next one. So are those of one
/// module: it has run once for each part of a batch.
constexpr size_t fewest_modules = 3;
constexpr int64_t least_bytes = 1 << 20;
/// Of the peak of allocated memory in the iteration.
constexpr double least_part_of_peak = 0.1;
/// Smaller ones are too many to look at, and together a small part of the results.
constexpr double least_part_of_result = 0.001;

/// The results of one line at the end of an iteration.
struct Results {
    std::vector<AllocationIndex> allocations;  ///< most bytes first
    std::set<std::string_view> modules;
    int64_t bytes = 0;
    EventNumber end = 0;  ///< the state after the iteration
    size_t seen = 0;      ///< number of iterations that leave such results
};

class Search {
public:
    explicit Search(const AnalysisContext& context)
        : context_(context), all_(context.device().allocations), iterations_(context.iterations().with_events()) {}

    /// Returns the results of the last iteration that leaves some, by their line.
    std::map<FrameId, Results> find() {
        // The results of the last iteration are not replaced any more.
        const size_t last = iterations_.size() - std::min<size_t>(iterations_.size(), 1);
        for (size_t i = std::max<size_t>(2, last - std::min(last, iterations_looked_at)); i < last; ++i) {
            for (auto& [line, results] : left_by(i)) {
                if (is_much(results, context_.allocated_peaks()[iterations_[i]])) {
                    results.seen = found_[line].seen + 1;
                    found_[line] = std::move(results);
                }
            }
        }
        return std::move(found_);
    }

private:
    static bool is_much(const Results& results, int64_t peak) {
        return results.modules.size() >= fewest_modules && results.bytes >= least_bytes &&
               static_cast<double>(results.bytes) >= least_part_of_peak * static_cast<double>(peak);
    }

    const Iteration& iteration(size_t i) const { return context_.iterations()[iterations_[i]]; }

    std::map<FrameId, Results> left_by(size_t i) {
        std::map<FrameId, Results> left;
        const EventNumber end = iteration(i).last;
        const double least = least_part_of_result * static_cast<double>(context_.allocated_peaks()[iterations_[i]]);
        for (const AllocationIndex a : allocated_at(context_, end)) {
            if (static_cast<double>(all_.block_size[a]) < least) {
                break;
            }
            if (is_result_until_the_next(a, i) && is_output(a, end)) {
                Results& results = left[context_.trace().stacks.site(all_.stack[a])];
                results.allocations.push_back(a);
                results.modules.insert(context_.trace().origins[all_.origin[a]].module);
                results.bytes += static_cast<int64_t>(all_.block_size[a]);
                results.end = end;
            }
        }
        return left;
    }

    /// Returns whether the iteration allocated it and the next one frees it. What may be an operand of its successor,
    /// as in `cache = torch.cat([cache, new])`, is state of the program.
    bool is_result_until_the_next(AllocationIndex a, size_t i) const {
        const std::string_view op = context_.trace().origins[all_.origin[a]].op;
        return all_.alloc_event[a] >= iteration(i).first && all_.free_event[a] < iteration(i + 1).last &&
               !is_join(op) && !is_element_wise(op);
    }

    bool is_output(AllocationIndex a, EventNumber state) const {
        return context_.graph()->categories.at({context_.device_position(), a},
                                               context_.device().time_of_state(state)) == Category::output;
    }

    const AnalysisContext& context_;
    const Allocations& all_;
    const std::vector<size_t> iterations_;  ///< with events
    std::map<FrameId, Results> found_;
};

/// Returns the referrer that a heap scan found for a result of this line, in whatever iteration; nullptr if none did.
const Referrer* referrer_of(const AnalysisContext& context, FrameId line) {
    for (const Referrer& referrer : context.graph()->tables().referrers) {
        const AllocationRef to = referrer.allocation;
        if (to && to.device == context.device_position() &&
            context.trace().stacks.site(context.device().allocations.stack[to.index]) == line) {
            return &referrer;
        }
    }
    return nullptr;
}

void report(Finding& finding, const AnalysisContext& context, const Results& results, const Words& words) {
    const IterationSource unit = context.iterations().source();
    const auto tensors = with("tensors", objects_words(context, finding.count, words));
    const auto bytes = with("bytes", format_bytes(results.bytes));
    const auto line = with("line", finding.line);
    const auto iteration = with("iteration", iteration_words(unit, words));
    finding.title = words("{tensors} of {line} stay until the next {iteration} makes its own: {bytes}", tensors, line,
                          iteration, bytes);
    finding.text = {
        words("{line} runs several times in each {iteration}, as in the layers of a model, and something retains each "
              "result after its use. At the end of the {iteration} {tensors} remain, {bytes} in total; no node of the "
              "autograd graph has saved them. The next {iteration} frees them one by one when it makes new ones.",
              line, iteration, tensors, bytes)};
    if (!finding.referrer.empty()) {
        finding.text.push_back(words("A heap scan found one of them: {referrer}.", with("referrer", finding.referrer)));
    }
}

Finding make_finding(const AnalysisContext& context, FrameId line, const Results& results, const Words& words) {
    const AllocationIndex largest = results.allocations.front();
    Finding finding = diagnoses::retained_results.new_finding();
    finding.confidence = Confidence::likely;
    finding.basis = words(
        "In {iterations} of the last iterations, results of this line outlive the iteration and no "
        "node saved them.",
        with("iterations", results.seen));
    finding.bytes = results.bytes;
    set_allocations(finding, context, results.allocations, results.end);
    set_line(finding, context, context.device().allocations.stack[largest]);
    const Referrer* referrer = referrer_of(context, line);
    if (referrer != nullptr) {
        finding.referrer = referrer_words(context.graph()->tables(), words, *referrer);
    }
    report(finding, context, results, words);
    finding.evidence = {at_event(context, words("The end of an iteration that leaves them"), results.end),
                        at_allocation(context, words("The largest of them is allocated"), largest),
                        at_event(context, words("It is freed"), context.device().allocations.free_event[largest] + 1)};
    // While one is made, it is needed.
    const int64_t saved = results.bytes - static_cast<int64_t>(context.device().allocations.block_size[largest]);
    finding.fixes = {
        {words("Store only what is read later, such as a mean, or the result of one layer. Or release "
               "them when they were read."),
         referrer == nullptr ? std::string() : referrer_expression(context.graph()->tables(), *referrer) + " = None",
         saved, std::nullopt}};
    finding.unknowns = {words("The recording does not show whether the program reads them in the next iteration.")};
    return finding;
}

/// Returns whether memory of the same line grows: then another finding is about it.
bool is_of_suspect(const AnalysisContext& context, FrameId line) {
    return std::any_of(context.suspects().begin(), context.suspects().end(), [&](const LeakSuspect& suspect) {
        return std::any_of(suspect.sites.begin(), suspect.sites.end(),
                           [&](const Site* site) { return context.trace().stacks.site(site->stack) == line; });
    });
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (!context.graph() || context.iterations().size() < fewest_iterations) {
        return;
    }
    if (find_finding(findings, FindingKind::retain_grad)) {
        return;  // which needs tensors that stay, and says so
    }
    for (const auto& [line, results] : Search(context).find()) {
        if (results.seen >= fewest_seen && !is_of_suspect(context, line)) {
            findings.push_back(make_finding(context, line, results, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::retained_results{FindingKind::retained_results, Severity::waste, DiagnosisPhase::observation,
                                            run};

}  // namespace tidemark
