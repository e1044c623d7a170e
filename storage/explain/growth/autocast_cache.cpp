// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #29: autocast caches its copy of each weight until the outermost autocast ends.
#include "storage/base/units.h"
#include "storage/explain/autocast_copies.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!context.graph() || suspect.referrer || suspect.retention.native || suspect.through_graph()) {
        return std::nullopt;
    }
    const int64_t copies = count_autocast_copies(context.trace(), context.device(), suspect.sites);
    if (copies == 0) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    finding.confidence = Confidence::likely;
    finding.title = words("autocast caches copies of weights and thereby retains the weights");
    finding.text = {
        words("Inside autocast each weight is copied to half precision at its first use, and the copy is cached until "
              "the outermost autocast ends. {copies} such copies are alive; no Python object refers to them. If models "
              "are created and dropped within one autocast, the copies of all of them stay.",
              with("copies", format_count(copies))),
        retained_so_far(suspect, words)};
    finding.fixes = {{words("Open one autocast per model or {iteration}, not one around all of them.",
                            with("iteration", iteration_words(suspect.iterations->source(), words))),
                      "for model in models:\n    with torch.autocast(\"cuda\"):\n        output = model(inputs)",
                      suspect.bytes, suspect.per_iteration},
                     {words("Or turn its cache off."), "torch.autocast(\"cuda\", cache_enabled=False)", suspect.bytes,
                      suspect.per_iteration}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::autocast_cache{FindingKind::autocast_cache, classify};

}  // namespace tidemark
