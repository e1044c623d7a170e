// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #6: a hook refers to a tensor whose graph refers to the hook.
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/suggested_change.h"
#include "storage/text/referrer_words.h"
#include "storage/trace/stack_search.h"

namespace tidemark {
namespace {

/// Returns whether C++ refers to the variables of a function. PyTorch's hooks are functions that C++ refers to; their
/// variables are in a tuple of cells.
bool is_closure(const GraphContext& graph, const Referrer& native) {
    if (native.links.empty()) {
        return false;
    }
    const std::string& name = graph.text(native.links.front().name);
    return name == "tuple" || name == "function" || name == "cell" || name == "method" || name == "Tensor";
}

/// Returns how the object whose method the hook is refers to the graph: "self._prototypes"; "" if the hook is no
/// method.
std::string path_from_method(const GraphTables& tables, const Referrer& hook) {
    const std::vector<PathLink> links(hook.links.begin() + 2, hook.links.end());
    if (links.size() < 2 || !is_object_of_method(tables, links.front())) {
        return {};
    }
    Referrer from_hook = hook;
    from_hook.links = links;
    return referrer_expression(tables, from_hook);
}

std::vector<Fix> fixes_of_function(const LeakSuspect& suspect, const Words& words) {
    return {{words("Let the hook use a detached tensor."),
             "kept = features.detach()\nfeatures.register_hook(lambda gradient: use(gradient, kept))", suspect.bytes,
             suspect.per_iteration},
            {words("Or remove the hook after the backward pass."),
             "handle = features.register_hook(hook)\nloss.backward()\nhandle.remove()", suspect.bytes,
             suspect.per_iteration}};
}

std::vector<Fix> fixes_of_method(const GraphTables& tables, const LeakSuspect& suspect, const std::string& path,
                                 const Words& words) {
    const Referrer& hook = *suspect.retention.hook;
    const bool leads_to_graph = hook.node != no_node;
    const std::string_view method = plain_name(tables.texts[hook_on_cycle(hook)->function]);
    return {{words("Let the hook refer to its object by a weak reference."),
             fmt::format("hook = weakref.WeakMethod(self.{})\nnode.register_hook(lambda *gradients: hook() and "
                         "hook()(*gradients))",
                         method),
             suspect.bytes, suspect.per_iteration},
            {words("Or clear what refers to the graph, and remove the hook, when no backward pass will follow. Under "
                   "torch.no_grad(), no graph is built at all."),
             (leads_to_graph ? path + " = None\n" : "") + "handle.remove()", suspect.bytes, suspect.per_iteration}};
}

/// Returns whether a library registered the hook, which the program cannot change.
bool is_in_library(const AnalysisContext& context, const Retention& retention) {
    const StackTable& stacks = context.trace().stacks;
    const PathLink* hook = retention.hook ? hook_on_cycle(*retention.hook) : nullptr;
    const std::string_view file = hook ? context.graph()->text(hook->file) : std::string_view();
    FrameId id = 0;
    while (id < stacks.frame_count() && (file.empty() || stacks.string(stacks.frame(id).file) != file)) {
        ++id;
    }
    return id < stacks.frame_count() && stacks.role(id) == FrameRole::library;
}

/// Returns the fix for graphs that no backward pass uses.
Fix fix_without_graph(const AnalysisContext& context, const LeakSuspect& suspect, StackId stack, const Words& words) {
    return {words("The hook is registered by a library, and no backward pass used these graphs: compute the results "
                  "without graphs. If they are needed, look for a newer version of the library."),
            "with torch.no_grad():\n    output = model(inputs)", suspect.bytes, suspect.per_iteration,
            disable_gradients_diff(context, stack, "torch.no_grad()")};
}

std::string text_of_cycle(const std::string& path, const Words& words) {
    return path.empty() ? words(
                              "The tensors are reachable only through a Python object that C++ refers to, such as the "
                              "variables of a hook function. A hook that uses a tensor of its own graph closes a "
                              "reference cycle: graph, hook, tensor, graph. The garbage collector does not see it.")
                        : words(
                              "The hook is a method, so it refers to its object, and the object retains `{path}`. The "
                              "graph refers to the hook in C++, so this closes a reference cycle that the garbage "
                              "collector does not see: everything that the object refers to stays.",
                              with("path", path));
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const Retention& retention = suspect.retention;
    const bool is_cycle = retention.hook || (retention.native && is_closure(*context.graph(), *retention.native));
    if (suspect.referrer || !is_cycle) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    finding.confidence = retention.hook ? Confidence::certain : Confidence::likely;
    finding.title = words("hooks form a reference cycle with the graphs they are registered on");
    std::string path;
    if (retention.hook) {
        const GraphTables& tables = context.graph()->tables();
        finding.referrer = link_words(tables, words, *hook_on_cycle(*retention.hook));
        finding.title =
            words("{hook} forms a reference cycle with the graph it is registered on", with("hook", finding.referrer));
        path = path_from_method(tables, *retention.hook);
    }
    finding.text = {text_of_cycle(path, words), retained_so_far(suspect, words)};
    if (is_in_library(context, retention) && retention.root_state == NodeState::never_executed) {
        finding.fixes = {fix_without_graph(context, suspect, finding.stack, words)};
        return finding;
    }
    finding.fixes = retention.hook && !path.empty() ? fixes_of_method(context.graph()->tables(), suspect, path, words)
                                                    : fixes_of_function(suspect, words);
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::hook_reference_cycle{FindingKind::hook_reference_cycle, classify};

}  // namespace tidemark
