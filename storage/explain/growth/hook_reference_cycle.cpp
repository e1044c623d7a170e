// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #6: a hook refers to a tensor whose graph refers to the hook.
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/text/referrer_words.h"

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

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const Retention& retention = suspect.retention;
    const bool is_cycle = retention.hook || (retention.native && is_closure(*context.graph(), *retention.native));
    if (suspect.referrer || !is_cycle) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    finding.confidence = retention.hook ? Confidence::certain : Confidence::likely;
    if (retention.hook) {
        finding.referrer = link_words(context.graph()->tables(), words, *retention.hook);
    }
    finding.title = retention.hook ? words("{hook} forms a reference cycle with the graph it is registered on",
                                           with("hook", finding.referrer))
                                   : words("hooks form a reference cycle with the graphs they are registered on");
    finding.text = {words("The tensors are reachable only through a Python object that C++ refers to, such as the "
                          "variables of a hook function. A hook that uses a tensor of its own graph closes a reference "
                          "cycle: graph, hook, tensor, graph. The garbage collector does not see it."),
                    retained_so_far(suspect, words)};
    finding.fixes = {{words("Let the hook use a detached tensor."),
                      "kept = features.detach()\nfeatures.register_hook(lambda gradient: use(gradient, kept))",
                      suspect.bytes, suspect.per_iteration},
                     {words("Or remove the hook after the backward pass."),
                      "handle = features.register_hook(hook)\nloss.backward()\nhandle.remove()", suspect.bytes,
                      suspect.per_iteration}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::hook_reference_cycle{FindingKind::hook_reference_cycle, classify};

}  // namespace tidemark
