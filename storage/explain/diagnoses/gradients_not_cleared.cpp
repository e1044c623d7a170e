// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #12: the gradients of the previous iteration still exist during the next forward pass, or gradients stay that no
// optimizer uses.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/backward_passes.h"
#include "storage/explain/composition.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/suggested_change.h"
#include "storage/explain/unused_gradients.h"

namespace tidemark {
namespace {

/// A smaller saving is not worth a change of the program.
constexpr int64_t least_bytes = 1 << 20;
constexpr double least_part_of_peak = 0.02;
/// The forward pass must add at least one part in this many of the gradients; otherwise freeing them first saves
/// nothing.
constexpr int64_t least_part = 20;

bool outlives_updates(const Gradient& gradient) { return gradient.passes() >= 3; }

struct Overlap {
    const BackwardPass* pass = nullptr;  ///< the last pass, or the one before an unfinished pass
    int64_t gradients = 0;               ///< bytes of gradients that existed before its forward pass
    int64_t activations = 0;             ///< bytes that the forward pass added
    const Gradient* example = nullptr;
    std::vector<AllocationIndex> allocations;  ///< of the gradients
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
            overlap.allocations.push_back(gradient.allocation);
            if (!overlap.example || bytes > static_cast<int64_t>(size[overlap.example->allocation])) {
                overlap.example = &gradient;
            }
        }
    }
    overlap.activations = activation_bytes(context, *overlap.pass);
    return overlap;
}

bool is_worth_reporting(const AnalysisContext& context, const Overlap& overlap) {
    const auto saved = static_cast<double>(std::min(overlap.gradients, overlap.activations));
    return overlap.gradients >= least_bytes && overlap.activations * least_part >= overlap.gradients &&
           saved >= least_part_of_peak * static_cast<double>(context.peak().max);
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
    finding.memory = memory_of(context, overlap.allocations, overlap.pass->backward);
    finding.component = ComponentKind::requested;
    set_line(finding, context, context.device().allocations.stack[overlap.example->allocation]);
    report(finding, context, overlap, words);
    add_evidence(finding, context, overlap, words);
    finding.fixes = {{words("Let zero_grad() free the gradients before the forward pass."),
                      "optimizer.zero_grad(set_to_none=True)\nloss = model(batch)",
                      std::min(overlap.gradients, overlap.activations), std::nullopt}};
    return finding;
}

constexpr size_t most_parts = 3;  ///< parts of models that are named one by one

/// Returns the line of the first call of backward() behind a line of the stack, "train.py:42"; "" if it is unknown.
std::string backward_line(const Trace& trace, StackId stack) {
    constexpr int32_t distance = 10;
    for (const FrameId id : trace.stacks.frames_of(stack)) {
        const Frame& frame = trace.stacks.frame(id);
        const std::string& file = trace.stacks.string(frame.file);
        for (const SourceLine& line : trace.source_text.around(file, frame.line, distance).lines) {
            if (line.number > frame.line && line.text.find(".backward(") != std::string::npos) {
                return file.substr(file.rfind('/') + 1) + ":" + std::to_string(line.number);
            }
        }
    }
    return {};
}

std::string why_unused(const UnusedGradients& unused, const Words& words) {
    if (unused.because == UnusedBecause::training_ended) {
        return words(
            "No backward pass and no optimizer step ran in the second half of the run, but nothing freed the "
            "gradients: eval(), no_grad() and requires_grad_(False) keep them.");
    }
    const auto steps = with("steps", format_count(static_cast<int64_t>(unused.steps)));
    if (unused.because == UnusedBecause::optimizer_ended) {
        return words(
            "The optimizer that updated these parameters has no part in training since {time}; the {steps} optimizer "
            "steps since then updated others. Nothing freed the gradients: eval() and requires_grad_(False) keep them, "
            "and zero_grad() of another optimizer does not reach them.",
            with("time", format_time_point(unused.since)), steps);
    }
    return unused.is_seen
               ? words(
                     "The gradients outlived {steps} optimizer steps, and the parameters did not change: they belong "
                     "to no optimizer, so its zero_grad() does not free them either.",
                     steps)
               : words(
                     "The gradients outlived {steps} optimizer steps, and no optimizer keeps state for these "
                     "parameters: they belong to no optimizer, so its zero_grad() does not free them either.",
                     steps);
}

std::vector<Fix> fixes_of(const Trace& trace, const UnusedGradients& unused, const Words& words) {
    if (unused.because == UnusedBecause::training_ended) {
        return {{words("Free the gradients when the last backward pass is done."), "model.zero_grad(set_to_none=True)",
                 unused.bytes, std::nullopt}};
    }
    if (unused.because == UnusedBecause::optimizer_ended) {
        return {{words("Free the gradients after the last step of their optimizer, before the next phase begins."),
                 "model.zero_grad(set_to_none=True)", unused.bytes, std::nullopt}};
    }
    return {{words("Freeze the parameters that are not trained: an attribute requires_grad of a module does nothing."),
             "for parameter in module.parameters():\n    parameter.requires_grad_(False)", unused.bytes, std::nullopt,
             freeze_diff(trace)},
            {words("Or run the part that is not trained without a graph; then its activations are not saved either."),
             "with torch.no_grad():\n    features = backbone(batch)", unused.bytes, std::nullopt}};
}

Finding make_finding(const AnalysisContext& context, const UnusedGradients& unused, const Words& words) {
    Finding finding = diagnoses::gradients_not_cleared.new_finding();
    const bool is_observed = unused.is_seen || unused.because == UnusedBecause::training_ended;
    finding.confidence = is_observed ? Confidence::certain : Confidence::likely;
    finding.basis = words("The gradients, the optimizers' state and steps, and the backward passes were recorded.");
    finding.bytes = unused.bytes;
    set_allocations(finding, context, unused.gradients, context.now());
    const AllocationIndex largest = unused.gradients.front();
    const StackId stack = context.device().allocations.stack[largest];
    set_line(finding, context, stack);
    finding.since = context.device().alloc_time(largest);
    std::vector<std::string> parts;
    for (size_t p = 0; p < std::min(most_parts, unused.parts.size()); ++p) {
        parts.push_back("`" + unused.parts[p] + "`");
    }
    const auto bytes = with("bytes", format_bytes(unused.bytes));
    finding.referrer = words("`.grad` of the parameters of {parts}", with("parts", words.list(parts)));
    finding.title = words("{bytes} of gradients stay that no optimizer uses", bytes);
    finding.text = {words("{count} hold {bytes}: {referrer}.",
                          with("count", words.plural(finding.count, "{n} gradient", "{n} gradients")), bytes,
                          with("referrer", finding.referrer)),
                    why_unused(unused, words)};
    const std::string backward = backward_line(context.trace(), stack);
    if (!backward.empty()) {
        finding.text.push_back(
            words("The backward pass that computes them is called at {line}.", with("line", backward)));
    }
    if (std::string phase = phase_words(context, stack, words);
        !phase.empty() && unused.because == UnusedBecause::optimizer_ended) {
        finding.text.push_back(std::move(phase));
    }
    finding.evidence = {at_allocation(context, words("The largest gradient is allocated"), largest),
                        at_event(context,
                                 words("The gradients still exist at {time_point}",
                                       with("time_point", time_point_name(context, words))),
                                 context.now())};
    finding.fixes = fixes_of(context.trace(), unused, words);
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (const auto unused = find_unused_gradients(context)) {
        findings.push_back(make_finding(context, *unused, words));
        return;
    }
    for (const BackwardPassGroup& group : find_backward_passes(context)) {
        if (const Overlap overlap = find(context, group); is_worth_reporting(context, overlap)) {
            findings.push_back(make_finding(context, overlap, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::gradients_not_cleared{FindingKind::gradients_not_cleared, Severity::waste,
                                                 DiagnosisPhase::observation, run};

}  // namespace tidemark
