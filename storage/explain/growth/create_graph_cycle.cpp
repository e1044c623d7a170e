// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #5: backward(create_graph=True) gives each gradient a graph that refers to the parameter. This reference cycle in C++
// is freed neither by reference counting nor by the garbage collector.
#include "storage/base/units.h"
#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {
namespace {

/// Counts nodes that only a backward pass with create_graph creates: the derivative of a derivative.
int64_t nodes_of_second_order(const GraphContext& graph) {
    int64_t count = 0;
    for (const NodeIndex node : graph.state.parents_first()) {
        count += graph.index.type(node).find("BackwardBackward") != std::string::npos;
    }
    return count;
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!context.graph() || suspect.referrer) {
        return std::nullopt;
    }
    const int64_t nodes = nodes_of_second_order(*context.graph());
    if (nodes == 0) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    finding.confidence = Confidence::likely;
    finding.title = words("gradients from create_graph=True form a reference cycle with their graphs");
    finding.text = {
        words("Nodes of second derivatives that are alive: {nodes}, as backward(create_graph=True) creates them. Each "
              "gradient in .grad refers to its graph, the graph to the parameter, and the parameter to the gradient: a "
              "reference cycle. No Python object refers to it, and the garbage collector does not see it.",
              with("nodes", format_count(nodes))),
        retained_so_far(suspect, words)};
    finding.fixes = {
        {words("Request the gradients instead of storing them in .grad."),
         "gradients = torch.autograd.grad(loss, parameters, create_graph=True)", suspect.bytes, suspect.per_iteration},
        {words("Or break the cycle after the gradients were used."),
         "for parameter in model.parameters():\n    parameter.grad = None", suspect.bytes, suspect.per_iteration}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::create_graph_cycle{FindingKind::create_graph_cycle, classify};

}  // namespace tidemark
