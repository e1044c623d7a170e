// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Generators and coroutines that have not finished retain the variables of their frames.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/storing_line.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Returns the position of the link that names the variable of a suspended call; nothing if the path leads through
/// none, or if the container that fills belongs to one call.
std::optional<size_t> suspended_variable(const ReferrerGroup& paths) {
    for (size_t i = 1; i < paths.links.size() && paths.links[i].kind != PathLinkKind::exception; ++i) {
        if (paths.links[i].kind == PathLinkKind::local) {
            return paths.varying && *paths.varying < i ? std::optional(i) : std::nullopt;
        }
    }
    return std::nullopt;
}

/// Returns the code that ends a call, with the name of the dict that has all of them.
std::string code_to_end(const AnalysisContext& context, const ReferrerGroup& paths) {
    const size_t end = container_end(paths.links);
    const std::string key = end < paths.links.size() && paths.links[end].kind == PathLinkKind::item
                                ? key_in_program(context, paths.links)
                                : std::string();
    return key.empty()
               ? "generator.close()\ntask.cancel()"
               : fmt::format("{}.pop({}).close()", object_expression(context.graph()->tables(), paths.links, end), key);
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.referrer) {
        return std::nullopt;
    }
    const ReferrerGroup& paths = suspect.paths;
    const std::optional<size_t> variable = suspended_variable(paths);
    if (!variable) {
        return std::nullopt;
    }
    const GraphTables& tables = context.graph()->tables();
    const std::string& function = tables.texts[paths.links[*variable].function];
    const std::string& name = tables.texts[paths.links[*variable].name];
    Finding finding = suspect_finding(context, suspect, words);
    const auto tensors = with("tensors", objects_words(context, suspect.count, words));
    finding.title = words("{tensors} retained by suspended calls of `{function}`: {referrer}", tensors,
                          with("function", function), with("referrer", finding.referrer));
    finding.text = {
        words("A generator or coroutine that was started and has not finished retains its frame, and the frame its "
              "variables, here `{name}` of `{function}`. More and more such calls wait.",
              with("name", name), with("function", function)),
        retained_so_far(suspect, words)};
    finding.fixes = {
        {words("Let each call finish, or end it: close the generator, cancel the task."), code_to_end(context, paths),
         suspect.bytes, suspect.per_iteration},
        {words("Or release what a call no longer needs before it waits: `del` before `yield` or `await`, and no "
               "argument that it does not use."),
         fmt::format("del {}", name), suspect.bytes, suspect.per_iteration}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::generator_retains{FindingKind::generator_retains, classify};

}  // namespace tidemark
