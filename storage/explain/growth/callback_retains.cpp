// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Registered functions accumulate, and each retains what it was given: closures, bound methods, functools.partial.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/python_code.h"
#include "storage/explain/registered_call.h"
#include "storage/explain/registries.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

bool is_private(const GraphTables& tables, const PathLink& link) {
    const std::string& name = tables.texts[link.name];
    return link.kind == PathLinkKind::attribute && (name.starts_with('_') || name.starts_with("part of "));
}

/// Returns whether each element of the container that fills is a function, or the record of a library about one, such
/// as the handle of an event loop.
bool fills_with_functions(const GraphTables& tables, const ReferrerGroup& paths) {
    size_t i = paths.varying ? *paths.varying + 1 : paths.links.size();
    while (i < paths.links.size() && (is_private(tables, paths.links[i]) || is_element(paths.links[i]))) {
        ++i;
    }
    return i < paths.links.size() && paths.links[i].kind != PathLinkKind::local &&
           enters_function(tables, paths.links, i);
}

/// Returns the fix that registers values: only a tensor of one element has an item().
Fix fix_of_arguments(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    constexpr std::string_view registration = "register(functools.partial(report, value))";
    const bool has_numbers = are_numbers(context, suspect);
    Fix fix{has_numbers ? words("Give the function values instead of GPU tensors.")
                        : words("Give the function copies in host memory instead of GPU tensors."),
            fmt::format("value = tensor.{}\n{}", has_numbers ? "item()" : "detach().cpu()", registration),
            {},
            {}};
    if (const auto call = registered_call(context, suspect.referrer->links)) {
        fix.diff = call->diff;
        fix.code.clear();
        fix.text =
            words.sentences({fix.text, words("{place} registers it: `{code}`.", with("place", name_of(call->place)),
                                             with("code", std::string(python_code::code_of(call->place.text))))});
    }
    return fix;
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.referrer || is_cycle(*suspect.referrer)) {
        return std::nullopt;
    }
    const ReferrerGroup& paths = suspect.paths;
    std::optional<Fix> of_registry = registry_fix(context.graph()->tables(), words, paths);
    if (!of_registry && !fills_with_functions(context.graph()->tables(), paths)) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    const auto tensors = with("tensors", objects_words(context, suspect.count, words));
    finding.title =
        words("{tensors} retained by registered functions: {referrer}", tensors, with("referrer", finding.referrer));
    finding.text = {
        words("A function that is registered to be called later retains its arguments, the variables that it uses, and "
              "the object whose method it is. More and more functions are registered, and none is removed."),
        retained_so_far(suspect, words)};
    if (!of_registry) {
        of_registry = Fix{words("Or remove the function when it is no longer needed."),
                          fmt::format("{}.remove(function)", referrer_expression(context.graph()->tables(), paths)),
                          {},
                          {}};
    }
    finding.fixes = {fix_of_arguments(context, suspect, words), std::move(*of_registry)};
    for (Fix& fix : finding.fixes) {
        fix.bytes = suspect.bytes;
        fix.per_iteration = suspect.per_iteration;
    }
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::callback_retains{FindingKind::callback_retains, classify};

}  // namespace tidemark
