// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reference cycles retain memory, and Python's garbage collector does not run: it is disabled, or frozen.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

/// Returns whether a scan found the suspect's memory in a cycle while the program worked. At its end, variables are
/// gone that referred to the cycle.
bool was_in_cycle(const AnalysisContext& context, const LeakSuspect& suspect) {
    const GraphTables& tables = context.graph()->tables();
    const auto& stack = context.device().allocations.stack;
    return std::any_of(tables.referrers.begin(), tables.referrers.end(), [&](const Referrer& referrer) {
        return is_cycle(referrer) && tables.scans[referrer.scan].reason != ScanReason::end &&
               referrer.allocation.device == context.device_position() &&
               stack[referrer.allocation.index] == suspect.sites.front()->stack;
    });
}

/// Returns whether a garbage collection ran since the oldest of the allocations. What it left is no garbage.
bool was_collected(const AnalysisContext& context, const LeakSuspect& suspect) {
    const auto& spans = context.trace().annotations;
    const int64_t since = context.device().alloc_time(suspect.sites.front()->now.front());
    return std::any_of(spans.begin(), spans.end(), [&](const Annotation& span) {
        return span.kind == AnnotationKind::garbage_collection && span.start >= since &&
               span.start < context.now_time();
    });
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.referrer || !is_cycle(*suspect.referrer) || was_collected(context, suspect) ||
        !was_in_cycle(context, suspect)) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    const auto tensors = with("tensors", words.plural(suspect.count, "{n} tensor", "{n} tensors"));
    const auto line = with("line", finding.line);
    finding.title =
        words("{tensors} from {line} stay in reference cycles: the garbage collector does not run", tensors, line);
    finding.text = {words("Objects in a reference cycle are not freed with the last variable that refers to them, "
                          "because their reference counts never reach zero. Only Python's garbage collector frees "
                          "them, and no collection ran since the growth began. The tensors are retained by {referrer}.",
                          with("referrer", finding.referrer)),
                    retained_so_far(suspect, words)};
    finding.fixes = {{words("Break the cycle: an inner function that calls itself refers to its own variables, a child "
                            "to its parent. Pass values as arguments, or use a weak reference."),
                      "import weakref\nself.owner = weakref.ref(owner)", suspect.bytes, suspect.per_iteration},
                     {words("Or let the garbage collector run: enable it, or collect at a time of your choice."),
                      "gc.collect()  # every few hundred iterations", suspect.bytes, suspect.per_iteration}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::garbage_cycles{FindingKind::garbage_cycles, classify};

}  // namespace tidemark
