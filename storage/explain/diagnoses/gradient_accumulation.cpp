// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #13: the gradients of several backward passes are added up before the optimizer step.
#include <algorithm>
#include <map>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/backward_passes.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/unused_gradients.h"

namespace tidemark {
namespace {

struct Accumulation {
    size_t passes = 0;            ///< whose gradients are added up; below 2: none
    Gradient example;             ///< a gradient that accumulated over this many passes
    EventNumber accumulated = 0;  ///< a state in which all gradients of an update exist
    int64_t bytes = 0;            ///< of all gradients at that state
};

/// Returns the number of passes over which most bytes of gradients accumulate, among the freed gradients.
size_t typical_passes(const AnalysisContext& context, const BackwardPassGroup& group) {
    std::map<size_t, int64_t> bytes;
    std::set<size_t> generations;
    for (const Gradient& gradient : group.gradients) {
        if (context.device().allocations.free_event[gradient.allocation] != never) {
            bytes[gradient.passes()] +=
                static_cast<int64_t>(context.device().allocations.block_size[gradient.allocation]);
            generations.insert(gradient.first);
        }
    }
    if (generations.size() < 2) {
        return 0;
    }
    return std::max_element(bytes.begin(), bytes.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

Accumulation find(const AnalysisContext& context, const BackwardPassGroup& group) {
    Accumulation found;
    found.passes = typical_passes(context, group);
    if (found.passes == 0) {
        found.passes = passes_per_update(context, group);  // all updates use the same memory
    }
    const auto example = std::find_if(group.gradients.rbegin(), group.gradients.rend(),
                                      [&](const Gradient& gradient) { return gradient.passes() >= found.passes; });
    if (found.passes < 2 || example == group.gradients.rend()) {
        return {};
    }
    found.example = *example;
    found.accumulated = group.passes[example->first + found.passes - 1].end;
    found.bytes = gradient_bytes(context, group, found.accumulated);
    return found;
}

void report(Finding& finding, const AnalysisContext& context, const BackwardPassGroup& group, const Accumulation& found,
            const Words& words) {
    const auto passes = with("passes", found.passes);
    const auto bytes = with("bytes", format_bytes(found.bytes));
    finding.title = words("{bytes} of gradients accumulate over {passes} backward passes", bytes, passes);
    finding.text = {
        words("The gradients of {passes} backward passes from {line} are added up before the optimizer step (gradient "
              "accumulation). The first pass allocates a gradient for each parameter, {bytes} in total; the others add "
              "to the same memory, so it does not grow with the number of passes.",
              passes, with("line", line_of(context.trace(), group.stack)), bytes),
        words("Meanwhile the gradients exist beside the activations of the next forward pass. This is the cost of the "
              "larger effective batch, not a leak.")};
}

void add_evidence(Finding& finding, const AnalysisContext& context, const BackwardPassGroup& group,
                  const Accumulation& found, const Words& words) {
    const BackwardPass& first = group.passes[found.example.first];
    finding.evidence = {at_allocation(context, words("A gradient, allocated in the first of these backward passes"),
                                      found.example.allocation),
                        at_event(context, words("The first backward pass has ended"), first.end),
                        at_event(context, words("The next forward pass begins, and the gradients still exist"),
                                 group.passes[found.example.first + 1].forward),
                        at_event(context, words("The last of these backward passes has ended"), found.accumulated)};
}

Finding make_finding(const AnalysisContext& context, const BackwardPassGroup& group, const Accumulation& found,
                     const Words& words) {
    Finding finding = diagnoses::gradient_accumulation.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("The graph shows which backward passes ran while the same gradients were allocated.");
    finding.bytes = found.bytes;
    finding.memory = memory_of(context, gradients_at(context, group, found.accumulated), found.accumulated);
    finding.count = static_cast<int64_t>(found.passes);
    finding.component = ComponentKind::requested;
    set_line(finding, context, context.device().allocations.stack[found.example.allocation]);
    report(finding, context, group, found, words);
    add_evidence(finding, context, group, found, words);
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (find_unused_gradients(context)) {
        return;  // gradients that stay because nobody uses them are not added up for an update
    }
    for (const BackwardPassGroup& group : find_backward_passes(context)) {
        if (const Accumulation found = find(context, group); found.passes >= 2) {
            findings.push_back(make_finding(context, group, found, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::gradient_accumulation{FindingKind::gradient_accumulation, Severity::pattern,
                                                 DiagnosisPhase::observation, run};

}  // namespace tidemark
