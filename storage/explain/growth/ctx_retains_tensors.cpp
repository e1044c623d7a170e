// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #10: a custom Function stores tensors as attributes of ctx instead of using save_for_backward.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.referrer || suspect.referrer->links.front().kind != PathLinkKind::ctx) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    const auto tensors = with("tensors", words.plural(suspect.count, "{n} tensor", "{n} tensors"));
    finding.title = words("{tensors} retained by {referrer}", tensors, with("referrer", finding.referrer));
    finding.text = {words.sentences(
        {words("A custom autograd Function stores a tensor as an attribute of its ctx. Backward does not release "
               "such a tensor, unlike one passed to save_for_backward: it lives as long as the node."),
         retained_so_far(suspect, words)})};
    finding.fixes = {
        {words("Pass the tensor to save_for_backward in forward, and read it from saved_tensors in backward."),
         "ctx.save_for_backward(x)      # in forward\nx, = ctx.saved_tensors        # in backward", suspect.bytes,
         suspect.per_iteration},
        {words("Also release the outputs: a reference to them retains the nodes after backward."), "", {}, {}}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::ctx_retains_tensors{FindingKind::ctx_retains_tensors, classify};

}  // namespace tidemark
