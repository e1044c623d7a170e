// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #29: autocast caches its copy of each weight until the outermost autocast ends.
#include <unordered_set>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

constexpr int64_t fewest_copies = 4;

/// Returns whether autocast runs this op in half precision. Compares the end of the op's path.
bool casts_its_weights(std::string_view op) {
    for (const std::string_view name : {"aten::linear", "aten::matmul", "aten::addmm", "aten::mm", "aten::bmm",
                                        "aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::to", "aten::_to_copy"}) {
        if (op.ends_with(name)) {
            return true;
        }
    }
    return false;
}

/// Counts the suspect's allocations from such an op that are half as large as another one of its allocations.
int64_t half_size_copies(const AnalysisContext& context, const LeakSuspect& suspect) {
    const Allocations& allocations = context.device().allocations;
    std::unordered_set<uint64_t> sizes;
    for (const Site* site : suspect.sites) {
        for (const AllocationIndex a : site->now) {
            sizes.insert(allocations.requested[a]);
        }
    }
    int64_t copies = 0;
    for (const Site* site : suspect.sites) {
        for (const AllocationIndex a : site->now) {
            copies += casts_its_weights(context.trace().origins[allocations.origin[a]].op) &&
                      sizes.count(allocations.requested[a] * 2) > 0;
        }
    }
    return copies;
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!context.graph() || suspect.referrer || suspect.retention.native || suspect.through_graph()) {
        return std::nullopt;
    }
    const int64_t copies = half_size_copies(context, suspect);
    if (copies < fewest_copies) {
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
        retained_so_far(context, suspect, words)};
    finding.fixes = {{words("Open one autocast per model or {iteration}, not one around all of them.",
                            with("iteration", iteration_words(context, words))),
                      "for model in models:\n    with torch.autocast(\"cuda\"):\n        output = model(inputs)",
                      suspect.bytes, suspect.per_iteration},
                     {words("Or turn its cache off."), "torch.autocast(\"cuda\", cache_enabled=False)", suspect.bytes,
                      suspect.per_iteration}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::autocast_cache{FindingKind::autocast_cache, classify};

}  // namespace tidemark
