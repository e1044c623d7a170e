// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #12: the gradients of the previous iteration still exist during the next forward pass.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/backward_passes.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// A smaller saving is not worth a change of the program.
constexpr int64_t least_bytes = 1 << 20;
/// The forward pass must add at least one part in this many of the gradients; otherwise freeing them first saves
/// nothing.
constexpr int64_t least_part = 20;

bool outlives_updates(const Gradient& gradient) { return gradient.passes() >= 3; }

struct Overlap {
    const BackwardPass* pass = nullptr;  ///< the last pass, or the one before an unfinished pass
    int64_t gradients = 0;               ///< bytes of gradients that existed before its forward pass
    int64_t activations = 0;             ///< bytes that the forward pass added
    const Gradient* example = nullptr;
};

Overlap find(const AnalysisContext& context, const BackwardPassGroup& group) {
    Overlap overlap;
    if (group.passes.size() < 3 || passes_per_update(context, group) != 1) {
        return overlap;
    }
    overlap.pass = &group.passes.back();
    const auto& size = context.device().allocations.block_size;
    for (const Gradient& gradient : group.gradients) {
        if (outlives_updates(gradient) && gradient.last + 1 == group.passes.size()) {
            const auto bytes = static_cast<int64_t>(size[gradient.allocation]);
            overlap.gradients += bytes;
            if (!overlap.example || bytes > static_cast<int64_t>(size[overlap.example->allocation])) {
                overlap.example = &gradient;
            }
        }
    }
    overlap.activations = activation_bytes(context, *overlap.pass);
    return overlap;
}

bool is_worth_reporting(const Overlap& overlap) {
    return overlap.gradients >= least_bytes && overlap.activations * least_part >= overlap.gradients;
}

void report(Finding& finding, const AnalysisContext& context, const Overlap& overlap, const Words& words) {
    const auto gradients = with("gradients", format_bytes(overlap.gradients));
    const auto activations = with("activations", format_bytes(overlap.activations));
    const auto each = with("each", each_iteration(context.iterations().source(), words));
    finding.title = words("{gradients} of old gradients exist beside the activations of every forward pass", gradients);
    finding.text = {
        words("The same {gradients} of gradients stay allocated from one update of the parameters to the next. "
              "zero_grad(set_to_none=False) fills them with zeros but does not free them; without zero_grad() they "
              "stay as well.",
              gradients),
        words("The forward pass therefore adds {activations} of activations {each} on top of gradients that are no "
              "longer needed. If they were freed first, the peak would be lower by up to {saved}.",
              each, activations, with("saved", format_bytes(std::min(overlap.gradients, overlap.activations))))};
    if (context.graph()) {
        finding.text.push_back(
            words("Memory at the start of the backward pass: {parts}.",
                  with("parts", composition_words(words, composition_at(context, overlap.pass->backward)))));
    }
}

void add_evidence(Finding& finding, const AnalysisContext& context, const Overlap& overlap, const Words& words) {
    finding.evidence = {
        at_allocation(context, words("The largest gradient is allocated"), overlap.example->allocation),
        at_event(context, words("A later forward pass begins: the gradients still exist"), overlap.pass->forward),
        at_event(context, words("The forward pass has ended: its activations exist beside the gradients"),
                 overlap.pass->backward)};
}

Finding make_finding(const AnalysisContext& context, const Overlap& overlap, const Words& words) {
    Finding finding = diagnoses::gradients_not_cleared.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words(
        "The graph and the allocator's events show that the same gradients existed during all later backward passes "
        "while the parameters were updated.");
    finding.bytes = overlap.gradients;
    finding.component = ComponentKind::requested;
    set_line(finding, context, context.device().allocations.stack[overlap.example->allocation]);
    report(finding, context, overlap, words);
    add_evidence(finding, context, overlap, words);
    finding.fixes = {{words("Let zero_grad() free the gradients before the forward pass."),
                      "optimizer.zero_grad(set_to_none=True)\nloss = model(batch)",
                      std::min(overlap.gradients, overlap.activations), std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    for (const BackwardPassGroup& group : find_backward_passes(context)) {
        if (const Overlap overlap = find(context, group); is_worth_reporting(overlap)) {
            findings.push_back(make_finding(context, overlap, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::gradients_not_cleared{FindingKind::gradients_not_cleared, Severity::waste,
                                                 DiagnosisPhase::observation, run};

}  // namespace tidemark
