// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #25: a stored exception retains its traceback and with it the variables of all frames of the failed iteration.
#include "storage/base/units.h"
#include "storage/explain/exception_fixes.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/growth/uncollected_cycles.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Returns a finding of exceptions to which variables of functions that they left refer. Whether they are garbage is
/// unknown: no scan saw whether something else referred to them, too, while the program worked.
Finding exceptions_in_cycles(const AnalysisContext& context, const LeakSuspect& suspect, const std::string& exception,
                             const Words& words) {
    Finding finding = suspect_finding(context, suspect, words);
    Referrer cycle = *suspect.referrer;
    cycle.links.resize(1);  // each frame has several variables; the cycle is what they have in common
    finding.referrer = referrer_words(context.graph()->tables(), words, cycle);
    finding.title = words("{tensors} retained by exceptions in reference cycles",
                          with("tensors", objects_words(context, suspect.count, words)));
    finding.text = {
        words("An exception refers to its traceback, and the traceback to the frames of all functions on the way. A "
              "variable of such a function refers to the exception, `{exception}`, so that they retain each other, and "
              "all variables of these frames with them: {total} so far. Only Python's garbage collector frees them; a "
              "program that has disabled it never does.",
              with("exception", exception), with("total", format_bytes(suspect.bytes)))};
    finding.fixes = fixes_of_cycles(context, suspect, words);
    return finding;
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.referrer) {
        return std::nullopt;
    }
    const std::string exception = exception_of_cycle(context.graph()->tables(), *suspect.referrer);
    if (!exception.empty() && !stays_in_cycles(context, suspect)) {
        return exceptions_in_cycles(context, suspect, exception, words);
    }
    if (!leads_through_exception(*suspect.referrer)) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    const auto tensors = with("tensors", objects_words(context, suspect.count, words));
    finding.title = words("{tensors} retained by stored exceptions", tensors);
    finding.text = {
        words("An exception refers to its traceback, the traceback to the frames of all functions on the way, and each "
              "frame to its variables: inputs, activations, a whole forward pass. The exception is retained by "
              "{referrer}, and with it all of them: {total} so far.",
              with("referrer", finding.referrer), with("total", format_bytes(suspect.bytes)))};
    finding.fixes = fixes_of_stored_exceptions(
        context.trace(), stored_exception(context.graph()->tables(), words, suspect.referrer->links),
        {finding.stack, suspect.bytes, suspect.per_iteration}, words);
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::exception_retains_frames{FindingKind::exception_retains_frames, classify};

}  // namespace tidemark
