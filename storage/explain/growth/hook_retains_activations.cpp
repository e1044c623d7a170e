// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #9: a module retains its outputs, for example through a forward hook that stores activations.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Returns "body.3" for "Classifier.body.3".
std::string_view last_name(std::string_view path) { return path.substr(path.find_last_of('.') + 1); }

/// Returns `activations` for "activations of ReLU", an attribute of a ReLU.
std::string_view attribute_name(std::string_view text) { return text.substr(0, text.find(" of ")); }

/// Returns whether the attribute belongs to the module that allocated the tensor.
bool is_retained_by_its_module(const AnalysisContext& context, const LeakSuspect& suspect) {
    const std::vector<PathLink>& links = suspect.referrer->links;
    const size_t end = container_end(links);
    if (end < 3 || links[end - 1].kind != PathLinkKind::attribute) {
        return false;
    }
    const std::string& module =
        context.trace().origins[context.device().allocations.origin[suspect.example.index]].module;
    return !module.empty() && attribute_name(context.graph()->text(links[end - 2].name)) == last_name(module);
}

/// Returns whether the container that fills is one that a hook reaches.
bool is_retained_by_hook(const LeakSuspect& suspect) {
    const std::vector<PathLink>& links = suspect.referrer->links;
    const auto hook =
        std::find_if(links.begin(), links.end(), [](const PathLink& link) { return link.kind == PathLinkKind::hook; });
    if (hook == links.begin() || hook == links.end()) {
        return hook != links.end();
    }
    const std::optional<size_t> filled = suspect.paths.varying;
    return filled && *filled > static_cast<size_t>(hook - links.begin());
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const bool is_hooks = suspect.referrer && is_retained_by_hook(suspect);
    if (!suspect.referrer || suspect.through_graph() || !(is_hooks || is_retained_by_its_module(context, suspect))) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    finding.confidence = is_hooks ? finding.confidence : Confidence::likely;
    const auto tensors = with("tensors", words.plural(suspect.count, "{n} activation", "{n} activations"));
    const std::string expression = referrer_expression(context.graph()->tables(), suspect.paths);
    const std::string& module =
        context.trace().origins[context.device().allocations.origin[suspect.example.index]].module;
    finding.title = words("{tensors} of module `{module}` retained by {referrer}", tensors, with("module", module),
                          with("referrer", finding.referrer));
    const auto of = with("module", module);
    const auto bytes = with("bytes", format_bytes(suspect.per_iteration));
    const auto iteration = with("iteration", iteration_words(suspect.iterations->source(), words));
    const auto total = with("total", format_bytes(suspect.bytes));
    finding.text = {
        is_hooks ? words("A hook stores the output of each pass through module `{module}`. What it fills is never "
                         "cleared: it grows by {bytes} every {iteration}, {total} so far. If a hook is registered "
                         "again and again, each of them stores the output.",
                         of, bytes, iteration, total)
                 : words("Each pass through module `{module}` stores its output in an attribute of the same module, "
                         "as a forward hook does that records activations. The attribute is never cleared: it grows "
                         "by {bytes} every {iteration}, {total} so far. It grows with gradients enabled or disabled.",
                         of, bytes, iteration, total)};
    finding.fixes = {
        {words("Remove the hook after it has recorded what is needed."),
         "handle = module.register_forward_hook(hook)\n...\nhandle.remove()", suspect.bytes, suspect.per_iteration},
        {words("Or clear what the hook fills every {iteration}.",
               with("iteration", iteration_words(suspect.iterations->source(), words))),
         expression.substr(expression.find_last_of('.') + 1) + ".clear()", suspect.bytes, suspect.per_iteration}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::hook_retains_activations{FindingKind::hook_retains_activations, classify};

}  // namespace tidemark
