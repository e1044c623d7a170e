// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A model gets more and more parameters, or models whose names are unknown accumulate.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/model_parts.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.is_model) {
        return std::nullopt;
    }
    const ModelParts parts = model_parts_of(context, suspect);
    if (parts.parameters == 0) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    const auto parameters = with("parameters", words.plural(parts.parameters, "{n} parameter", "{n} parameters"));
    finding.title = parts.model.empty()
                        ? words("{parameters} from {line} accumulate", parameters, with("line", finding.line))
                        : words("model `{name}` gets more and more parameters: {parameters} from {line}",
                                with("name", parts.model), parameters, with("line", finding.line));
    finding.text = {
        words("Parameters stay, with what belongs to them: {parts}.", with("parts", parts.words_of_parts(words))),
        retained_so_far(suspect, words)};
    finding.fixes = {{words("Remove parameters from the model when they are no longer needed (adapters, task heads, "
                            "layers), and release earlier models."),
                      "del model.heads[task]", suspect.bytes, suspect.per_iteration}};
    if (parts.gradient_bytes > 0) {
        finding.fixes.push_back({words("Gradients of parameters that are no longer trained stay, too: release them."),
                                 "optimizer.zero_grad(set_to_none=True)",
                                 parts.gradient_bytes,
                                 {}});
    }
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::parameters_grow{FindingKind::parameters_grow, classify};

}  // namespace tidemark
