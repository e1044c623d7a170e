// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Like S10, but no referrer retains the outputs: graphs that are never backpropagated and are freed in the same
// iteration.
#include <algorithm>
#include <map>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/executed_graphs.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/suggested_change.h"

namespace tidemark {
namespace {

/// One or two graphs may belong to the unfinished iteration, or to a test.
constexpr int64_t fewest_graphs = 3;
/// Smaller graphs have no visible effect.
constexpr int64_t least_bytes = 1 << 20;
constexpr double least_part_of_peak = 0.02;

/// Graphs of one line that are never backpropagated.
struct UnusedGraphs {
    std::vector<NodeIndex> roots;  ///< roots of the freed graphs
    NodeIndex largest = no_node;
    int64_t bytes = 0;  ///< bytes that the largest of them retained
};

class Search {
public:
    explicit Search(const AnalysisContext& context)
        : context_(context),
          graph_(*context.graph()),
          nodes_(graph_.tables().nodes),
          leads_to_executed_(leads_to_executed(graph_.index)),
          seen_(nodes_.size(), false) {}

    std::map<FrameId, UnusedGraphs> find() {
        for (NodeIndex node = nodes_.size(); node-- > 0;) {
            if (is_unused_root(node)) {
                UnusedGraphs& unused = found_[context_.trace().stacks.site(nodes_.stack[node])];
                unused.roots.push_back(node);
                if (const int64_t bytes = reachable_bytes(node); bytes > unused.bytes) {
                    unused.bytes = bytes;
                    unused.largest = node;
                }
            }
        }
        return std::move(found_);
    }

private:
    bool was_executed(NodeIndex node) const { return nodes_.executed[node] != never_happened; }

    /// Returns whether the node is a root, is destroyed, and no backward pass executed any node of its graph. The
    /// graph of a derivative leads to nodes that were executed for it: without gradients there would be none. A node
    /// without a stack was found later, by a heap scan: whether it was executed is unknown.
    bool is_unused_root(NodeIndex node) const {
        return nodes_.stack[node] != 0 && !was_executed(node) && !graph_.index.is_leaf(node) &&
               nodes_.destroyed[node] < context_.now_time() && graph_.index.parents(node).empty() &&
               !leads_to_executed_[node];
    }

    /// Returns the bytes that the graph under this root saved for backward, counting each allocation once. Nodes that a
    /// backward pass executed belong to another graph.
    int64_t reachable_bytes(NodeIndex root) {
        std::set<AllocationIndex> counted;
        std::vector<NodeIndex> open{root};
        int64_t bytes = 0;
        while (!open.empty()) {
            const NodeIndex node = open.back();
            open.pop_back();
            if (seen_[node] || was_executed(node)) {
                continue;
            }
            seen_[node] = true;
            bytes += saved_bytes(node, nodes_.destroyed[root], counted);
            const auto children = graph_.index.children(node);
            open.insert(open.end(), children.begin(), children.end());
        }
        return bytes;
    }

    int64_t saved_bytes(NodeIndex node, int64_t until, std::set<AllocationIndex>& counted) const {
        const SavedTensors& saved = graph_.tables().saved;
        int64_t bytes = 0;
        for (uint32_t s = saved.first[node]; s < saved.first[node + 1]; ++s) {
            const AllocationRef allocation = saved.allocation[s];
            // Memory that exists much longer than the graph has another referrer: parameters, inputs.
            if (allocation && allocation.device == context_.device_position() &&
                !is_retained_outside_graph(graph_.categories.at(allocation, until)) &&
                is_freed_soon(allocation.index) && counted.insert(allocation.index).second) {
                bytes += static_cast<int64_t>(context_.device().allocations.block_size[allocation.index]);
            }
        }
        return bytes;
    }

    bool is_freed_soon(AllocationIndex a) const { return context_.device().allocations.free_event[a] < context_.now(); }

    const AnalysisContext& context_;
    const GraphContext& graph_;
    const GraphNodes& nodes_;
    const std::vector<bool> leads_to_executed_;
    std::vector<bool> seen_;
    std::map<FrameId, UnusedGraphs> found_;
};

Finding make_finding(const AnalysisContext& context, const UnusedGraphs& unused, const Words& words) {
    const GraphNodes& nodes = context.graph()->tables().nodes;
    const auto graphs = with(
        "graphs", words.plural(static_cast<int64_t>(unused.roots.size()), "{n} autograd graph", "{n} autograd graphs"));
    const auto bytes = with("bytes", format_bytes(unused.bytes));
    Finding finding = diagnoses::eval_without_no_grad.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("The graph shows that these nodes were created and destroyed, and never backpropagated.");
    finding.bytes = unused.bytes;
    finding.count = static_cast<int64_t>(unused.roots.size());
    finding.component = ComponentKind::requested;
    set_line(finding, context, nodes.stack[unused.largest]);
    finding.title = words("{graphs} from {line} never backpropagated", graphs, with("line", finding.line));
    finding.text = {words(
        "The forward pass at {line} saves {bytes} of activations at a time for a backward pass that never runs. They "
        "are freed with the output, so they do not accumulate, but the peak is higher than necessary, and time is "
        "lost.",
        bytes, with("line", finding.line))};
    const EventNumber destroyed = context.device().events_until(nodes.destroyed[unused.largest]);
    Evidence root = at_node(context, words("The root of the largest graph"), unused.largest);
    root.event = context.device().events_until(nodes.created[unused.largest]);
    root.time = nodes.created[unused.largest];
    finding.evidence = {root, at_event(context, words("The graph is freed without a backward pass"), destroyed)};
    finding.fixes = {{words("Disable gradients."), "with torch.inference_mode():\n    output = model(batch)",
                      unused.bytes, std::nullopt,
                      disable_gradients_diff(context, finding.stack, "torch.inference_mode()")}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (!context.graph()) {
        return;
    }
    const int64_t peak = context.peak().max;
    const auto least = std::max(least_bytes, static_cast<int64_t>(least_part_of_peak * static_cast<double>(peak)));
    for (const auto& [line, unused] : Search(context).find()) {
        if (static_cast<int64_t>(unused.roots.size()) >= fewest_graphs && unused.bytes >= least) {
            findings.push_back(make_finding(context, unused, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::eval_without_no_grad{FindingKind::eval_without_no_grad, Severity::waste,
                                                DiagnosisPhase::observation, run};

}  // namespace tidemark
