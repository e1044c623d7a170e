// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reference cycles retain memory, and Python's garbage collector does not run: it is disabled, or frozen.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

constexpr int64_t fewest_freezes = 3;

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

/// Returns how many spans of this kind and name began since the oldest of the allocations.
int64_t count_spans(const AnalysisContext& context, const LeakSuspect& suspect, AnnotationKind kind,
                    std::string_view name) {
    const auto& spans = context.trace().annotations;
    const int64_t since = context.device().alloc_time(suspect.sites.front()->now.front());
    return std::count_if(spans.begin(), spans.end(), [&](const Annotation& span) {
        return span.kind == kind && span.name.starts_with(name) && span.start >= since &&
               span.start < context.now_time();
    });
}

/// Returns whether a garbage collection ran since the oldest of the allocations. What it left is no garbage.
bool was_collected(const AnalysisContext& context, const LeakSuspect& suspect) {
    return count_spans(context, suspect, AnnotationKind::garbage_collection, "") > 0;
}

/// Returns whether gc.freeze() hides the memory: it was called again and again while the memory grew, and a scan found
/// the memory in a cycle, or found nothing that refers to it.
bool is_frozen(const AnalysisContext& context, const LeakSuspect& suspect) {
    const bool may_be_cycle = suspect.referrer ? is_cycle(*suspect.referrer) && was_in_cycle(context, suspect)
                                               : context.graph()->was_scanned(suspect.example) &&
                                                     !suspect.retention.native && !suspect.through_graph();
    return may_be_cycle && count_spans(context, suspect, AnnotationKind::user, "gc.freeze (") >= fewest_freezes;
}

Finding frozen_cycles(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    Finding finding = suspect_finding(context, suspect, words);
    const auto tensors = with("tensors", words.plural(suspect.count, "{n} tensor", "{n} tensors"));
    finding.confidence = Confidence::likely;
    finding.title = words("{tensors} from {line} stay in reference cycles that gc.freeze() hides from the collector",
                          tensors, with("line", finding.line));
    finding.text = {
        words("gc.freeze() moves all objects that exist, garbage in reference cycles as well, to where no garbage "
              "collection looks: gc.collect() does not free them, and gc.get_objects() does not list them. The program "
              "called it {times} since the growth began.",
              with("times", words.plural(count_spans(context, suspect, AnnotationKind::user, "gc.freeze ("), "{n} time",
                                         "{n} times"))),
        retained_so_far(suspect, words)};
    finding.fixes = {
        {words("Collect before freezing, and freeze only once, after the program has started."),
         "gc.collect()\ngc.freeze()", suspect.bytes, suspect.per_iteration},
        {words("Or break the cycle: do not store bound methods of an object in the object itself, and let a "
               "child refer to its parent by a weak reference."),
         "", suspect.bytes, suspect.per_iteration}};
    return finding;
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (context.graph() && is_frozen(context, suspect)) {
        return frozen_cycles(context, suspect, words);
    }
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
    finding.fixes = {{words("Break the cycle: replace one of its references by a weak reference, or clear it when the "
                            "work is done."),
                      "import weakref\nself.owner = weakref.ref(owner)", suspect.bytes, suspect.per_iteration},
                     {words("Or let the garbage collector run: enable it, or collect at a time of your choice."),
                      "gc.collect()  # every few hundred iterations", suspect.bytes, suspect.per_iteration}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::garbage_cycles{FindingKind::garbage_cycles, classify};

}  // namespace tidemark
