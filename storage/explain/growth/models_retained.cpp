// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Whole models accumulate: something refers to each of them, such as a cache whose key is the model.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/model_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Two models of one class are usual: a teacher and a student, an average of the weights.
constexpr int64_t fewest_models = 3;

/// Returns the path without its end inside the model: up to what refers to the model.
Referrer path_to_model(const GraphTables& tables, const Referrer& referrer, const std::string& model) {
    Referrer path = referrer;
    for (size_t i = path.links.size(); i-- > 1;) {
        if (tables.texts[path.links[i].name].ends_with(" of " + model)) {
            path.links.resize(i);
            break;
        }
    }
    return path;
}

/// Returns the stack that allocated most parameters, not the gradients or the state that came later.
StackId stack_of_parameters(const AnalysisContext& context, const LeakSuspect& suspect) {
    for (const Site* site : suspect.sites) {
        const Category category =
            context.graph()->categories.at({context.device_position(), site->now.front()}, context.now_time());
        if (category == Category::parameter) {
            return site->stack;
        }
    }
    return suspect.sites.front()->stack;
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.is_model) {
        return std::nullopt;
    }
    const ModelParts parts = model_parts_of(context, suspect);
    if (parts.same_name < fewest_models || parts.parameters == 0) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    finding.count = parts.same_name;
    set_line(finding, context, stack_of_parameters(context, suspect));
    if (suspect.referrer) {
        const GraphTables& tables = context.graph()->tables();
        finding.referrer = referrer_words(tables, words, path_to_model(tables, *suspect.referrer, parts.model));
    }
    const auto models = with("models", words.plural(parts.same_name, "{n} model", "{n} models"));
    const auto name = with("name", parts.model);
    const auto referrer = with("referrer", finding.referrer);
    finding.title = finding.referrer.empty()
                        ? words("{models} of class `{name}` are alive", models, name)
                        : words("{models} of class `{name}` retained by {referrer}", models, name, referrer);
    finding.text = {
        words("Models that are no longer in use stay, whole: {parts}.", with("parts", parts.words_of_parts(words))),
        retained_so_far(suspect, words)};
    finding.fixes = {{words("Release the model when it is no longer in use: remove what refers to it."), "",
                      suspect.bytes, suspect.per_iteration},
                     {words("If a cache of a method refers to it: `functools.lru_cache` on a method retains `self`. "
                            "Cache on the instance, or cache a function that does not take the model."),
                      "", suspect.bytes, suspect.per_iteration}};
    if (finding.referrer.empty()) {
        finding.unknowns = {words("What refers to the models was not found.")};
    }
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::models_retained{FindingKind::models_retained, classify};

}  // namespace tidemark
