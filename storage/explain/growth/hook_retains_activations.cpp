// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #9: a module retains its outputs, for example through a forward hook that stores activations; or a hook is registered
// again and again, and each retains the tensors that its function uses.
#include <fmt/format.h>

#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/library_advice.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Returns "body.3" for "Classifier.body.3".
std::string_view last_name(std::string_view path) { return path.substr(path.find_last_of('.') + 1); }

/// Returns `activations` for "activations of ReLU", an attribute of a ReLU.
std::string_view attribute_name(std::string_view text) { return text.substr(0, text.find(" of ")); }

/// Returns whether the attribute belongs to the module that allocated the tensor. A dict is rather a cache of what the
/// module has computed, and what a library's module fills, such as a metric, needs no hook.
bool is_retained_by_its_module(const AnalysisContext& context, const LeakSuspect& suspect) {
    const std::vector<PathLink>& links = suspect.referrer->links;
    const size_t end = container_end(links);
    if (end < 3 || links[end - 1].kind != PathLinkKind::attribute ||
        (end < links.size() && links[end].kind == PathLinkKind::item) ||
        is_filled_by_library(context.trace(), context.graph()->tables(), links)) {
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

/// Returns whether the hooks of one tensor or module become more.
bool is_table_of_hooks(const LeakSuspect& suspect) {
    const std::optional<size_t> filled = suspect.paths.varying;
    return filled && suspect.paths.links[*filled].kind == PathLinkKind::hook;
}

/// Returns how to register the hook, of which the recorder says the kind: "forward hook of ReLU".
std::string code_to_remove(std::string_view hook) {
    const bool is_of_tensor = hook.starts_with("gradient");
    std::string name(hook.substr(0, hook.find(" of ")));
    std::replace(name.begin(), name.end(), ' ', '_');
    return fmt::format("handle = {}\n...\nhandle.remove()",
                       is_of_tensor ? "tensor.register_hook(hook)" : "module.register_" + name + "(hook)");
}

Finding finding_of_table(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    Finding finding = suspect_finding(context, suspect, words);
    const std::vector<PathLink>& links = suspect.paths.links;
    const auto hook = links.begin() + static_cast<std::ptrdiff_t>(*suspect.paths.varying);
    // Elements of a set and what a type of C hides have no names, so they may be what grows.
    const bool has_unnamed = std::any_of(links.begin(), links.end(), [&](const PathLink& link) {
        return link.kind == PathLinkKind::element || context.graph()->text(link.name).starts_with("part of ");
    });
    finding.confidence = has_unnamed ? Confidence::likely : Confidence::certain;
    const auto tensors = with("tensors", words.plural(suspect.count, "{n} tensor", "{n} tensors"));
    const auto iteration = with("iteration", iteration_words(suspect.iterations->source(), words));
    finding.title = words("{tensors} retained by hooks that are never removed: {referrer}", tensors,
                          with("referrer", finding.referrer));
    finding.text = {
        words("A hook is registered again and again on the same object, and none is removed. Each hook "
              "retains the tensors that its function uses: {bytes} more every {iteration}, {total} in "
              "{tensors} so far. All registered hooks are called, not only the newest.",
              with("bytes", format_bytes(suspect.per_iteration)), iteration, with("total", format_bytes(suspect.bytes)),
              tensors)};
    finding.fixes = {{words("Keep the handle that the registration returns, and remove the hook after its use."),
                      code_to_remove(context.graph()->text(hook->name)), suspect.bytes, suspect.per_iteration},
                     {words("Or register the hook once, before the first {iteration}, and let it read a variable that "
                            "is overwritten.",
                            iteration),
                      "", suspect.bytes, suspect.per_iteration}};
    return finding;
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (suspect.referrer && !suspect.through_graph() && is_table_of_hooks(suspect)) {
        return finding_of_table(context, suspect, words);
    }
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
