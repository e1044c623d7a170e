// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A model gets more and more parameters, or models whose names are unknown accumulate.
#include <algorithm>
#include <iterator>

#include "storage/base/units.h"
#include "storage/explain/composition.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/model_parts.h"
#include "storage/explain/growth/model_referrer.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/optimizer_spans.h"

namespace tidemark {
namespace {

/// Returns the path from an optimizer to its parameters, if most parameters of the suspect that the scans found are
/// nearer to an optimizer than to a model.
std::optional<Referrer> path_by_optimizer(const AnalysisContext& context, const LeakSuspect& suspect) {
    const auto names = attributes_of_optimizers(context.trace());
    const auto is_of_optimizer = [&](const PathLink& link) {
        return link.kind == PathLinkKind::attribute && names.contains(context.graph()->text(link.name));
    };
    int64_t found = 0, by_optimizer = 0;
    std::optional<Referrer> path;
    for (const Site* site : suspect.sites) {
        for (const AllocationIndex a : site->now) {
            const AllocationRef allocation{context.device_position(), a};
            const bool is_parameter =
                context.graph()->categories.at(allocation, context.now_time()) == Category::parameter;
            const Referrer* referrer = is_parameter ? context.graph()->referrers.in_python(allocation) : nullptr;
            if (!referrer) {
                continue;
            }
            ++found;
            const auto link = std::find_if(referrer->links.begin(), referrer->links.end(), is_of_optimizer);
            if (link != referrer->links.end()) {
                ++by_optimizer;
                path = *referrer;
                path->links.resize(static_cast<size_t>(link - referrer->links.begin()) + 1);
            }
        }
    }
    return 2 * by_optimizer > found ? path : std::nullopt;
}

/// Sets the referrer of the finding to this path, which a scan found.
void set_referrer(Finding& finding, const AnalysisContext& context, const LeakSuspect& suspect, const Referrer& path,
                  const Words& words) {
    finding.referrer = referrer_words(context.graph()->tables(), words, path);
    const size_t iterations = suspect.iterations->size() - suspect.since;
    finding.basis =
        words("The allocator's events of {iterations} iterations show the growth; a heap scan found the referrer.",
              with("iterations", format_count(static_cast<int64_t>(iterations))));
}

/// Returns the fixes for parameters that an optimizer retains. Those that only its state retains were replaced: its
/// groups do not have them any more.
std::vector<Fix> fixes_of_optimizer(const AnalysisContext& context, const LeakSuspect& suspect, const Referrer& path,
                                    const std::string& referrer, const Words& words) {
    const bool were_replaced = context.graph()->text(path.links.back().name).starts_with("state of ");
    const std::string text = words(
        "Remove them from the optimizer: {referrer} retains the parameters that were added, also those that were "
        "replaced. Or create the optimizer anew.",
        with("referrer", referrer));
    if (!were_replaced) {
        return {{text,
                 "for parameter in group[\"params\"]:\n    optimizer.state.pop(parameter, None)\n"
                 "optimizer.param_groups.remove(group)",
                 suspect.bytes, suspect.per_iteration}};
    }
    return {
        {text,
         "for parameter in model.head.parameters():  # before it is replaced\n"
         "    optimizer.state.pop(parameter, None)\n"
         "optimizer.param_groups[0][\"params\"] = list(model.parameters())  # after it",
         suspect.bytes, suspect.per_iteration},
        {words("Or initialize the existing module again in place of a new one: its parameters stay the same objects, "
               "and the optimizer keeps one state for each."),
         "for module in model.head.modules():\n    if hasattr(module, \"reset_parameters\"):\n"
         "        module.reset_parameters()",
         suspect.bytes, suspect.per_iteration}};
}

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
    finding.count = parts.parameters;
    finding.text = {words("Parameters stay, with what belongs to them: {parts}.",
                          with("parts", parts.words_of_parts(finding.bytes, words))),
                    retained_so_far(suspect, words)};
    finding.fixes = {{words("Remove parameters from the model when they are no longer needed (adapters, task heads, "
                            "layers), and release earlier models."),
                      "del model.heads[task]",
                      suspect.bytes,
                      suspect.per_iteration,
                      {},
                      true}};
    if (const std::optional<Referrer> path = path_by_optimizer(context, suspect)) {
        set_referrer(finding, context, suspect, *path, words);
        std::vector<Fix> fixes = fixes_of_optimizer(context, suspect, *path, finding.referrer, words);
        finding.fixes.insert(finding.fixes.begin(), std::make_move_iterator(fixes.begin()),
                             std::make_move_iterator(fixes.end()));
    } else if (const std::optional<Referrer> to_model =
                   path_to_model(context, allocated_at(context, context.now()), parts.model)) {
        set_referrer(finding, context, suspect, *to_model, words);
        finding.text.push_back(words("The model is retained by {referrer}.", with("referrer", finding.referrer)));
    }
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
