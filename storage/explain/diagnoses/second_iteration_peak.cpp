// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S12, #14: the second forward pass runs while the gradients of the first iteration exist; all later iterations are the
// same.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/backward_passes.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// A smaller rise than one part in this many of the first peak, or than this many bytes, needs no explanation.
constexpr int64_t least_rise_part = 100;
constexpr int64_t least_rise = 1 << 20;
/// Later peaks that are higher by at most one part in this many count as equal.
constexpr int64_t same_peak_part = 50;

struct SecondPeak {
    const BackwardPass *first = nullptr, *second = nullptr;
    Extremes first_peak, second_peak;
    int64_t gradients = 0;  ///< of the first pass, allocated when the second forward begins
    int64_t left = 0;       ///< all that the first iteration left allocated when the second forward begins
};

/// Returns the extremes from the pass's forward to the next one.
Extremes peak_of(const AnalysisContext& context, const BackwardPassGroup& group, size_t position) {
    const BackwardPass& pass = group.passes[position];
    const bool is_last = position + 1 == group.passes.size();
    const EventNumber end = is_last ? pass.end : std::max(pass.end, group.passes[position + 1].forward);
    return context.curves().extremes(Series::allocated, pass.forward, end);
}

int64_t retained_so_far(const AnalysisContext& context, const BackwardPass& first, const BackwardPass& second) {
    const Composition before = composition_at(context, first.forward), after = composition_at(context, second.forward);
    return after.total() - after.of(Category::workspace) - before.total() + before.of(Category::workspace);
}

SecondPeak find(const AnalysisContext& context, const BackwardPassGroup& group) {
    SecondPeak found{&group.passes[0], &group.passes[1], peak_of(context, group, 0), peak_of(context, group, 1), 0, 0};
    found.gradients = gradient_bytes(context, group, found.second->forward);
    found.left = retained_so_far(context, *found.first, *found.second);
    return found;
}

bool is_flat_afterwards(const AnalysisContext& context, const BackwardPassGroup& group, int64_t peak) {
    for (size_t position = 2; position < group.passes.size(); ++position) {
        if (peak_of(context, group, position).max > peak + peak / same_peak_part) {
            return false;
        }
    }
    return true;
}

bool is_higher(const AnalysisContext& context, const BackwardPassGroup& group, const SecondPeak& found) {
    const int64_t rise = found.second_peak.max - found.first_peak.max;
    const int64_t made = gradient_bytes(context, group, found.first->end);
    const bool is_visible = rise >= least_rise || (rise > 0 && rise * least_rise_part >= found.first_peak.max);
    return is_visible && found.gradients > 0 && found.gradients * 2 >= made && found.left >= rise / 2;
}

/// Returns whether a finding that explains the same gradients better was reported.
bool was_reported(const Findings& findings) {
    return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.kind == FindingKind::gradients_not_cleared || finding.kind == FindingKind::gradient_accumulation;
    });
}

void report(Finding& finding, const AnalysisContext& context, const SecondPeak& found, const Words& words) {
    const auto gradients = with("gradients", format_bytes(found.gradients));
    const auto first = with("first", format_bytes(found.first_peak.max));
    const auto second = with("second", format_bytes(found.second_peak.max));
    finding.title = words("the peak comes in the second iteration, {second} after {first}, and does not rise further",
                          first, second);
    finding.text = {
        words("The first forward pass ran without gradients, because the first backward pass allocates them. The peak "
              "of the first iteration is {first}.",
              first),
        words("The second iteration's forward and backward pass add to what the first iteration left: {left}, of which "
              "{gradients} are gradients. This makes the higher peak of {second}.",
              gradients, second, with("left", format_bytes(found.left))),
        words("No later iteration has a higher peak: its backward pass adds to the same gradients, or allocates new "
              "ones after the old ones were freed. This is not a leak."),
        words("Memory at the second peak: {parts}.",
              with("parts", composition_words(words, composition_at(context, found.second_peak.max_event))))};
}

Finding make_finding(const AnalysisContext& context, const BackwardPassGroup& group, const SecondPeak& found,
                     const Words& words) {
    Finding finding = diagnoses::second_iteration_peak.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis =
        words("The graph and the allocator's events of the first iterations show it; later peaks are the same.");
    finding.bytes = found.left;
    finding.component = ComponentKind::requested;
    set_line(finding, context, group.stack);
    report(finding, context, found, words);
    finding.evidence = {
        at_event(context, words("The peak of the first iteration"), found.first_peak.max_event),
        at_event(context, words("The second forward pass begins: the gradients exist"), found.second->forward),
        at_event(context, words("The peak of the second iteration"), found.second_peak.max_event)};
    const int64_t saved = std::min(found.gradients, activation_bytes(context, *found.second));
    finding.fixes = {
        {words("If the gradients of several iterations are not to be added up: free them before the forward pass."),
         "optimizer.zero_grad(set_to_none=True)\nloss = model(batch)", saved > 0 ? std::optional(saved) : std::nullopt,
         std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings& earlier, const Words& words, Findings& findings, Progress&) {
    if (was_reported(earlier)) {
        return;
    }
    for (const BackwardPassGroup& group : find_backward_passes(context)) {
        if (group.passes.size() < 3 || passes_per_update(context, group) > 1) {
            continue;
        }
        const SecondPeak found = find(context, group);
        if (is_higher(context, group, found) && is_flat_afterwards(context, group, found.second_peak.max)) {
            findings.push_back(make_finding(context, group, found, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::second_iteration_peak{FindingKind::second_iteration_peak, Severity::pattern,
                                                 DiagnosisPhase::comparison, run};

}  // namespace tidemark
