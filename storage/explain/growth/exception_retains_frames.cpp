// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #25: a stored exception retains its traceback and with it the variables of all frames of the failed iteration.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.referrer || !leads_through_exception(*suspect.referrer)) {
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
    finding.fixes =
        fixes_of_stored_exceptions(stored_exception(context.graph()->tables(), words, suspect.referrer->links),
                                   suspect.bytes, suspect.per_iteration, words);
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::exception_retains_frames{FindingKind::exception_retains_frames, classify};

}  // namespace tidemark
