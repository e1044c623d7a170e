// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S3: a second backward through a graph whose saved tensors the first one released.
#include <algorithm>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// A second backward that reached a node whose saved tensors were released.
struct FailedBackward {
    NodeIndex last_run = no_node;  ///< the last node that the second backward executed
    NodeIndex node = no_node;      ///< the node that it could not execute
};

bool has_saved(const GraphContext& graph, NodeIndex node) {
    const auto& first = graph.tables().saved.first;
    return first[node] != first[node + 1];
}

/// Returns the bytes of saved tensors on a device, counting each allocation once.
int64_t saved_bytes(const AnalysisContext& context, NodeIndex node, std::set<AllocationIndex>& counted) {
    const SavedTensors& saved = context.graph()->tables().saved;
    int64_t bytes = 0;
    for (uint32_t s = saved.first[node]; s < saved.first[node + 1]; ++s) {
        const AllocationRef allocation = saved.allocation[s];
        if (allocation && allocation.device == context.device_position() && counted.insert(allocation.index).second) {
            bytes += static_cast<int64_t>(context.device().allocations.block_size[allocation.index]);
        }
    }
    return bytes;
}

/// A backward pass executes a node before its children. A second backward stopped at a child if the node was executed
/// again after the child, and the child was not.
std::optional<FailedBackward> find(const GraphContext& graph) {
    const GraphNodes& nodes = graph.tables().nodes;
    for (NodeIndex node = 0; node < nodes.size(); ++node) {
        if (nodes.executed[node] == never_happened || !has_saved(graph, node) || graph.index.is_leaf(node)) {
            continue;
        }
        for (const NodeIndex parent : graph.index.parents(node)) {
            const bool was_executed_again =
                nodes.executed[parent] != never_happened && nodes.executed[parent] > nodes.executed[node];
            if (was_executed_again && nodes.released[node] <= nodes.executed[parent] &&
                nodes.created[parent] <= nodes.executed[node]) {
                return FailedBackward{parent, node};
            }
        }
    }
    return std::nullopt;
}

struct Census {
    int64_t released = 0;         ///< alive nodes that saved tensors and released them
    int64_t never = 0;            ///< alive nodes that never saved a tensor
    int64_t bytes = 0;            ///< bytes of tensors saved by the released nodes
    NodeIndex example = no_node;  ///< a node that never saved a tensor, outside the graph of the failed backward
};

Census count(const AnalysisContext& context) {
    const GraphContext& graph = *context.graph();
    const GraphNodes& nodes = graph.tables().nodes;
    Census census;
    std::set<AllocationIndex> counted;
    for (NodeIndex node = 0; node < nodes.size(); ++node) {
        if (graph.index.is_leaf(node) || graph.index.state(node, context.now_time()) != NodeState::released) {
            continue;
        }
        if (has_saved(graph, node)) {
            ++census.released;
            census.bytes += saved_bytes(context, node, counted);
        } else {
            ++census.never;
            census.example = census.example == no_node ? node : census.example;
        }
    }
    return census;
}

std::string root_variable(const AnalysisContext& context, NodeIndex node) {
    const GraphContext& graph = *context.graph();
    const std::vector<NodeIndex> path = graph.state.path_to(node);
    const Referrer* referrer = graph.referrers.of(path.empty() ? node : path.front());
    return referrer ? referrer_expression(graph.tables(), *referrer) : std::string();
}

void report(Finding& finding, const AnalysisContext& context, const FailedBackward& stop, const Census& census,
            const Words& words) {
    const GraphIndex& index = context.graph()->index;
    const auto type = with("type", index.type(stop.node));
    const std::string variable = root_variable(context, stop.node);
    finding.title = variable.empty()
                        ? words("a second backward stopped at {type}: its saved tensors had been released", type)
                        : words("a second backward of `{name}` stopped at {type}: its saved tensors had been released",
                                type, with("name", variable));
    finding.text = {
        words(
            "The first backward() released the saved tensors of the nodes, as it always does without "
            "retain_graph=True. A variable that refers to the result retains the nodes, but without saved tensors they "
            "cannot be executed again: the second backward() executed {last} and raised at the node below it, {type}.",
            type, with("last", index.type(stop.last_run))),
        words("Alive without their saved tensors: {released}; the first backward released {bytes}. Never saved any "
              "tensor: {never}. Their gradient does not depend on a value (as in x + 1, or a sum), so a second "
              "backward succeeds through such nodes alone.",
              with("released", words.plural(census.released, "{n} node", "{n} nodes")),
              with("never", words.plural(census.never, "{n} other", "{n} others")),
              with("bytes", format_bytes(census.bytes)))};
}

Finding make_finding(const AnalysisContext& context, const FailedBackward& stop, const Words& words) {
    const Census census = count(context);
    const GraphNodes& nodes = context.graph()->tables().nodes;
    Finding finding = diagnoses::released_graph.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("The graph shows when each node was executed, and when its saved tensors were released.");
    finding.bytes = census.bytes;
    finding.count = census.released;
    set_line(finding, context, nodes.stack[stop.node]);
    report(finding, context, stop, census, words);
    Evidence released = at_node(context, words("The node whose saved tensors are released"), stop.node);
    released.time = nodes.released[stop.node];
    finding.evidence.push_back(released);
    finding.evidence.push_back(at_event(context, words("The first backward has released the saved tensors"),
                                        context.device().events_until(nodes.released[stop.node])));
    finding.evidence.push_back(at_event(context,
                                        words("The second backward executes {type} and stops",
                                              with("type", context.graph()->index.type(stop.last_run))),
                                        context.device().events_until(nodes.executed[stop.last_run])));
    if (census.example != no_node) {
        finding.evidence.push_back(at_node(context, words("A node that never saved a tensor"), census.example));
    }
    finding.fixes = {
        {words("Run the forward pass again before the second backward()."), "", std::nullopt, std::nullopt},
        {words("Or keep the saved tensors for one more backward(); omit the flag in the last one."),
         "loss.backward(retain_graph=True)\nloss.backward()", std::nullopt, std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (!context.graph()) {
        return;
    }
    if (const std::optional<FailedBackward> stop = find(*context.graph())) {
        findings.push_back(make_finding(context, *stop, words));
    }
}

}  // namespace

const Diagnosis diagnoses::released_graph{FindingKind::released_graph, Severity::pattern, DiagnosisPhase::observation,
                                          run};

}  // namespace tidemark
