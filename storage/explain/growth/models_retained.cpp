// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Whole models accumulate: something refers to each of them, such as a cache whose key is the model.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/exception_fixes.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/model_parts.h"
#include "storage/explain/growth/model_referrer.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/growth/uncollected_cycles.h"
#include "storage/explain/library_advice.h"
#include "storage/explain/program_blocks.h"
#include "storage/explain/registries.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/optimizer_spans.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Two models of one class are usual: a teacher and a student, an average of the weights.
constexpr int64_t fewest_models = 3;

/// Returns the paths to the models.
ReferrerGroup paths_to_models(const AnalysisContext& context, const LeakSuspect& suspect, const Referrer& referrer,
                              const std::string& model) {
    ReferrerGroup paths = &referrer == suspect.referrer
                              ? suspect.paths
                              : growth_paths(*context.graph(), suspect.sites, referrer, context.device_position());
    paths.links.resize(links_to_model(context.graph()->tables(), paths.links, model));
    if (paths.varying && *paths.varying >= paths.links.size()) {
        paths.varying.reset();
    }
    return paths;
}

/// Returns the suspect with a path to one of the models: its typical allocation may have another path, or none.
LeakSuspect with_path_to_models(const AnalysisContext& context, LeakSuspect suspect, const Referrer& referrer,
                                const std::string& model) {
    suspect.paths = paths_to_models(context, suspect, referrer, model);
    suspect.referrer = suspect.retention.referrer = &referrer;
    suspect.example = referrer.allocation ? referrer.allocation : suspect.example;
    return suspect;
}

/// The path leads to one tensor, whose bytes say nothing of a model.
void forget_bytes_of_elements(std::vector<RetentionStep>& path, int64_t bytes_of_models) {
    for (RetentionStep& step : path) {
        if (step.kind == RetentionStep::Kind::reference && step.bytes && *step.bytes < bytes_of_models) {
            step.bytes.reset();
        }
    }
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

/// Returns the method whose functools.lru_cache retains the models; "" if none does.
std::string cached_method(const GraphTables& tables, const ReferrerGroup& paths) {
    constexpr std::string_view suffix = ".cache";
    const std::string expression = paths.links.empty() ? std::string() : referrer_expression(tables, paths);
    const bool has_cache = std::any_of(paths.links.begin(), paths.links.end(),
                                       [&](const PathLink& link) { return is_cache_of_function(tables, link); });
    return has_cache && expression.ends_with(suffix) ? expression.substr(0, expression.size() - suffix.size())
                                                     : std::string();
}

/// Returns "`Net.bias` (net.py:31)"; without the line if it is unknown.
std::string words_of_method(const Trace& trace, const std::string& method) {
    std::vector<SourcePlace> lines = definitions_of(trace, plain_name(method));
    std::erase_if(lines, [&](const SourcePlace& line) { return !is_method_of(method, class_around(trace, line)); });
    return lines.size() == 1 ? fmt::format("`{}` ({})", method, name_of(lines.front())) : fmt::format("`{}`", method);
}

/// Returns the bytes of the models without the newest one, if the loop that makes them goes on: it is in use.
int64_t bytes_of_unused(const AnalysisContext& context, const LeakSuspect& suspect, int64_t models) {
    return explained_time(context) == ExplainedTime::end_of_iteration ? suspect.bytes - suspect.bytes / models
                                                                      : suspect.bytes;
}

std::vector<Fix> fixes_of_models(const AnalysisContext& context, const LeakSuspect& suspect, const ReferrerGroup& paths,
                                 int64_t models, const Words& words) {
    const int64_t bytes = bytes_of_unused(context, suspect, models);
    const auto of_suspect = [&](Fix fix) {
        fix.bytes = bytes;
        fix.per_iteration = suspect.per_iteration;
        return fix;
    };
    if (std::optional<Fix> fix = registry_fix(context.graph()->tables(), words, paths)) {
        return {of_suspect(std::move(*fix))};
    }
    if (const std::string method = cached_method(context.graph()->tables(), paths); !method.empty()) {
        const auto name = with("method", words_of_method(context.trace(), method));
        return {{words("`functools.lru_cache` on the method {method} retains `self`. Cache on the instance, or cache a "
                       "function that does not take the model.",
                       name),
                 "", bytes, suspect.per_iteration},
                {words("Or clear the cache of {method} when a model is no longer in use.", name),
                 method + ".cache_clear()", bytes, suspect.per_iteration}};
    }
    const Fix release{words("Release the model when it is no longer in use: remove what refers to it."), "", bytes,
                      suspect.per_iteration};
    // Other parameters of the models may have been found by another path.
    if (std::optional<Fix> fix =
            library_fix_of_path(context.trace(), context.graph()->tables(), words, paths.links, Growth::of_count)) {
        return {of_suspect(std::move(*fix)), release};
    }
    return {release,
            {words("If a cache of a method refers to it: `functools.lru_cache` on a method retains `self`. "
                   "Cache on the instance, or cache a function that does not take the model."),
             "", bytes, suspect.per_iteration}};
}

/// Returns whether one optimizer retains them: it keeps the parameters that were replaced, not models. A list of
/// optimizers retains models.
bool is_of_one_optimizer(const AnalysisContext& context, const Referrer& referrer) {
    const auto names = attributes_of_optimizers(context.trace());
    for (const PathLink& link : referrer.links) {
        if (link.kind == PathLinkKind::attribute && names.contains(context.graph()->text(link.name))) {
            return true;
        }
        if (is_element(link)) {
            return false;
        }
    }
    return false;
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& found, const Words& words) {
    if (!found.is_model) {
        return std::nullopt;
    }
    const ModelParts parts = model_parts_of(context, found);
    if (parts.same_name < fewest_models || parts.parameters == 0) {
        return std::nullopt;
    }
    const Referrer* referrer = referrer_of_models(context, found, parts.model);
    if (referrer && is_of_one_optimizer(context, *referrer)) {
        return std::nullopt;
    }
    const LeakSuspect suspect = referrer ? with_path_to_models(context, found, *referrer, parts.model) : found;
    Finding finding = suspect_finding(context, suspect, words);
    forget_bytes_of_elements(finding.path, suspect.bytes);
    finding.count = parts.same_name;
    set_line(finding, context, stack_of_parameters(context, suspect));
    const ReferrerGroup& paths = suspect.paths;
    finding.referrer = referrer_words(context.graph()->tables(), words, paths);
    const bool is_garbage = referrer && is_cycle(*referrer) && stays_in_cycles(context, suspect);
    const auto models = with("models", words.plural(parts.same_name, "{n} model", "{n} models"));
    const auto name = with("name", parts.model);
    finding.title = is_garbage ? words(
                                     "{models} of class `{name}` stay in reference cycles: the garbage collector does "
                                     "not run",
                                     models, name)
                    : referrer ? words("{models} of class `{name}` retained by {referrer}", models, name,
                                       with("referrer", finding.referrer))
                               : words("{models} of class `{name}` are alive", models, name);
    finding.text = {words("Models that are no longer in use stay, whole: {parts}.",
                          with("parts", parts.words_of_parts(finding.bytes, words))),
                    retained_so_far(suspect, words)};
    if (is_garbage) {
        finding.text.push_back(
            words("No variable refers to them any more, but their reference counts never reach zero: they are retained "
                  "by {referrer}. Only Python's garbage collector frees them, and no collection freed anything since "
                  "the growth began: it is disabled, or it runs too rarely.",
                  with("referrer", finding.referrer)));
        finding.fixes = fixes_of_cycles(context, suspect, words);
        return finding;
    }
    if (referrer && leads_through_exception(*referrer)) {
        finding.text.push_back(
            words("Stored exceptions refer to them: an exception refers to its traceback, the "
                  "traceback to the frames of all functions on the way, and each frame to its "
                  "variables."));
        finding.fixes = fixes_of_stored_exceptions(context.trace(),
                                                   stored_exception(context.graph()->tables(), words, referrer->links),
                                                   {finding.stack, suspect.bytes, suspect.per_iteration}, words);
        return finding;
    }
    finding.fixes = fixes_of_models(context, suspect, paths, parts.same_name, words);
    if (!referrer) {
        finding.unknowns = {words("What refers to the models was not found.")};
    }
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::models_retained{FindingKind::models_retained, classify};

}  // namespace tidemark
