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

/// Returns the number of links up to what refers to the model; all links if the path does not lead through it.
size_t links_to_model(const GraphTables& tables, const std::vector<PathLink>& links, const std::string& model) {
    for (size_t i = links.size(); i-- > 1;) {
        if (tables.texts[links[i].name].ends_with(" of " + model)) {
            return i;
        }
    }
    return links.size();
}

/// Returns a referrer of a parameter whose path leads through the model: from a variable if there is one, and by few
/// links. Returns the suspect's if there is none.
const Referrer* referrer_of_models(const AnalysisContext& context, const LeakSuspect& suspect,
                                   const std::string& model) {
    const GraphTables& tables = context.graph()->tables();
    const Referrer* best = nullptr;
    const auto cost = [&](const Referrer& referrer) {
        return std::pair(!has_name(referrer), links_to_model(tables, referrer.links, model));
    };
    for (const Site* site : suspect.sites) {
        for (const AllocationIndex a : site->now) {
            const Referrer* referrer = context.graph()->referrers.in_python({context.device_position(), a});
            if (referrer && links_to_model(tables, referrer->links, model) < referrer->links.size() &&
                (!best || cost(*referrer) < cost(*best))) {
                best = referrer;
            }
        }
    }
    return best ? best : suspect.referrer;
}

void set_referrer(Finding& finding, const AnalysisContext& context, const LeakSuspect& suspect,
                  const Referrer& referrer, const std::string& model, const Words& words) {
    const GraphTables& tables = context.graph()->tables();
    ReferrerGroup paths = &referrer == suspect.referrer
                              ? suspect.paths
                              : growth_paths(*context.graph(), suspect.sites, referrer, context.device_position());
    paths.links.resize(links_to_model(tables, paths.links, model));
    if (paths.varying && *paths.varying >= paths.links.size()) {
        paths.varying.reset();
    }
    finding.referrer = referrer_words(tables, words, paths);
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
    const Referrer* referrer = referrer_of_models(context, suspect, parts.model);
    if (referrer) {
        set_referrer(finding, context, suspect, *referrer, parts.model, words);
    }
    const auto models = with("models", words.plural(parts.same_name, "{n} model", "{n} models"));
    const auto name = with("name", parts.model);
    finding.title = referrer ? words("{models} of class `{name}` retained by {referrer}", models, name,
                                     with("referrer", finding.referrer))
                             : words("{models} of class `{name}` are alive", models, name);
    finding.text = {
        words("Models that are no longer in use stay, whole: {parts}.", with("parts", parts.words_of_parts(words))),
        retained_so_far(suspect, words)};
    if (referrer && leads_through_exception(*referrer)) {
        finding.text.push_back(
            words("Stored exceptions refer to them: an exception refers to its traceback, the "
                  "traceback to the frames of all functions on the way, and each frame to its "
                  "variables."));
        finding.fixes = fixes_of_stored_exceptions(suspect, words);
        return finding;
    }
    finding.fixes = {{words("Release the model when it is no longer in use: remove what refers to it."), "",
                      suspect.bytes, suspect.per_iteration},
                     {words("If a cache of a method refers to it: `functools.lru_cache` on a method retains `self`. "
                            "Cache on the instance, or cache a function that does not take the model."),
                      "", suspect.bytes, suspect.per_iteration}};
    if (!referrer) {
        finding.unknowns = {words("What refers to the models was not found.")};
    }
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::models_retained{FindingKind::models_retained, classify};

}  // namespace tidemark
