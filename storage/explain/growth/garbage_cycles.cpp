// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Reference cycles retain memory, and Python's garbage collector does not run: it is disabled, or frozen.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/growth/uncollected_cycles.h"

namespace tidemark {
namespace {

constexpr int64_t fewest_freezes = 3;

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
    const auto tensors = with("tensors", objects_words(context, suspect.count, words));
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
    if (!suspect.referrer || !is_cycle(*suspect.referrer) || !stays_in_cycles(context, suspect)) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    const auto tensors = with("tensors", objects_words(context, suspect.count, words));
    const auto line = with("line", finding.line);
    const bool has_one_line = std::all_of(suspect.sites.begin(), suspect.sites.end(), [&](const Site* site) {
        return line_of(context.trace(), site->stack) == finding.line;
    });
    if (!has_one_line) {
        // Each line has a variable of its own; the cycle is what they have in common.
        Referrer cycle = *suspect.referrer;
        cycle.links.resize(1);
        finding.referrer = referrer_words(context.graph()->tables(), words, cycle);
    }
    finding.title =
        has_one_line
            ? words("{tensors} from {line} stay in reference cycles: the garbage collector does not run", tensors, line)
            : words("{tensors} stay in reference cycles: the garbage collector does not run", tensors);
    finding.text = {words("Objects in a reference cycle are not freed with the last variable that refers to them, "
                          "because their reference counts never reach zero. Only Python's garbage collector frees "
                          "them, and no collection ran since the growth began. The tensors are retained by {referrer}.",
                          with("referrer", finding.referrer)),
                    retained_so_far(suspect, words)};
    finding.fixes = fixes_of_cycles(context, suspect, words);
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::garbage_cycles{FindingKind::garbage_cycles, classify};

}  // namespace tidemark
