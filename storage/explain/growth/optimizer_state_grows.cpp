// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The state of optimizers accumulates: parameters are added to one, or optimizers are never released.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/model_parts.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

/// The state is at least this part of what accumulates: 9 / 10.
constexpr int64_t least_tenths = 9;
constexpr int64_t fewest_optimizers = 3;

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.is_model) {
        return std::nullopt;
    }
    const ModelParts parts = model_parts_of(context, suspect);
    if (parts.state_bytes * 10 < parts.total() * least_tenths) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    const auto bytes = with("bytes", format_bytes(parts.state_bytes));
    const auto referrer = with("referrer", finding.referrer);
    const bool are_optimizers = parts.same_name >= fewest_optimizers;
    finding.title = finding.referrer.empty()
                        ? words("optimizer state grows: {bytes}", bytes)
                        : words("optimizer state grows: {bytes} retained by {referrer}", bytes, referrer);
    finding.text = {are_optimizers
                        ? words("{optimizers} keep state for the same parameters: earlier ones are still alive.",
                                with("optimizers", words.plural(parts.same_name, "{n} optimizer", "{n} optimizers")))
                        : words("State that an optimizer keeps for parameters accumulates."),
                    retained_so_far(suspect, words)};
    finding.fixes = {
        {words("Release an optimizer with what refers to it, such as a learning-rate scheduler, before the next one is "
               "created."),
         "del optimizer, scheduler", suspect.bytes, suspect.per_iteration},
        {words("If parameters were removed from the model: remove their state, too."), "del optimizer.state[parameter]",
         suspect.bytes, suspect.per_iteration}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::optimizer_state_grows{FindingKind::optimizer_state_grows, classify};

}  // namespace tidemark
