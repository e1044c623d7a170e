// Like S10, but nobody keeps the outputs: graphs built in vain, gone with their round.
#include <algorithm>
#include <map>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// One or two may be the unfinished round's, or a test.
constexpr int64_t fewest_graphs = 3;
/// Less does not show.
constexpr int64_t least_bytes = 1 << 20;
constexpr double least_part_of_peak = 0.02;

/// Graphs of one line that were built and never run.
struct Vain {
    std::vector<NodeIndex> roots;  ///< of those that are gone
    NodeIndex largest = no_node;
    int64_t bytes = 0;  ///< of memory that the largest of them kept
};

class Search {
public:
    explicit Search(const AnalysisContext& context)
        : context_(context), graph_(*context.graph()), nodes_(graph_.tables().nodes), seen_(nodes_.size(), false) {}

    std::map<FrameId, Vain> find() {
        for (NodeIndex node = nodes_.size(); node-- > 0;) {
            if (is_root_in_vain(node)) {
                Vain& vain = found_[context_.trace().stacks.user_frame(nodes_.stack[node])];
                vain.roots.push_back(node);
                if (const int64_t bytes = reachable_bytes(node); bytes > vain.bytes) {
                    vain.bytes = bytes;
                    vain.largest = node;
                }
            }
        }
        return std::move(found_);
    }

private:
    bool was_run(NodeIndex node) const { return nodes_.executed[node] != never_happened; }

    /// Nothing leads to it, it is gone, and no backward has touched it.
    bool is_root_in_vain(NodeIndex node) const {
        return !was_run(node) && !graph_.index.is_leaf(node) && nodes_.destroyed[node] < context_.now_time() &&
               graph_.index.parents(node).empty();
    }

    /// Memory that the graph under this root saved for a backward, each allocation once. Nodes that a backward did run
    /// belong to another graph.
    int64_t reachable_bytes(NodeIndex root) {
        std::set<AllocationIndex> counted;
        std::vector<NodeIndex> open{root};
        int64_t bytes = 0;
        while (!open.empty()) {
            const NodeIndex node = open.back();
            open.pop_back();
            if (seen_[node] || was_run(node)) {
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
            // What is alive well after the graph died was kept by somebody else as well: parameters, inputs.
            if (allocation && allocation.device == context_.device_position() &&
                !is_held_outside(graph_.categories.at(allocation, until)) && is_gone_soon(allocation.index) &&
                counted.insert(allocation.index).second) {
                bytes += static_cast<int64_t>(context_.device().allocations.block_size[allocation.index]);
            }
        }
        return bytes;
    }

    bool is_gone_soon(AllocationIndex a) const { return context_.device().allocations.free_event[a] < context_.now(); }

    const AnalysisContext& context_;
    const GraphContext& graph_;
    const GraphNodes& nodes_;
    std::vector<bool> seen_;
    std::map<FrameId, Vain> found_;
};

Finding about(const AnalysisContext& context, const Vain& vain, const Words& words) {
    const GraphNodes& nodes = context.graph()->tables().nodes;
    const auto graphs = with(
        "graphs", words.counted(static_cast<int64_t>(vain.roots.size()), "{n} autograd graph", "{n} autograd graphs"));
    const auto bytes = with("bytes", format_bytes(vain.bytes));
    Finding finding = diagnoses::eval_without_no_grad.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("The graph shows that these nodes were created and destroyed, and never backpropagated.");
    finding.bytes = vain.bytes;
    finding.count = static_cast<int64_t>(vain.roots.size());
    finding.component = ComponentKind::requested;
    set_line(finding, context, nodes.stack[vain.largest]);
    finding.title = words("{graphs} from {line} never backpropagated", graphs, with("line", finding.line));
    finding.text = {words(
        "The forward pass at {line} saves {bytes} of activations at a time for a backward pass that never runs. They "
        "are freed with the output, so memory does not grow, but the peak is higher than necessary, and time is lost.",
        bytes, with("line", finding.line))};
    const EventNumber destroyed = context.device().events_until(nodes.destroyed[vain.largest]);
    Evidence root = at_node(context, words("The root of the largest graph"), vain.largest);
    root.event = context.device().events_until(nodes.created[vain.largest]);
    root.time = nodes.created[vain.largest];
    finding.evidence = {root, at_event(context, words("The graph is freed without a backward pass"), destroyed)};
    finding.fixes = {{words("Disable gradients."), "with torch.inference_mode():\n    output = model(batch)",
                      vain.bytes, std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (!context.graph()) {
        return;
    }
    const int64_t peak = context.curves().peak(Series::allocated).max;
    const auto least = std::max(least_bytes, static_cast<int64_t>(least_part_of_peak * static_cast<double>(peak)));
    for (const auto& [line, vain] : Search(context).find()) {
        if (static_cast<int64_t>(vain.roots.size()) >= fewest_graphs && vain.bytes >= least) {
            findings.push_back(about(context, vain, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::eval_without_no_grad{FindingKind::eval_without_no_grad, Severity::waste, Phase::observation,
                                                run};

}  // namespace tidemark
