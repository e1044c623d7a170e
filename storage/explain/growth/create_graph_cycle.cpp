// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #5: backward(create_graph=True) gives each gradient a graph that refers to the tensor that requires it. This
// reference cycle in C++ is freed neither by reference counting nor by the garbage collector.
#include <algorithm>
#include <unordered_set>
#include <vector>

#include "storage/base/units.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/python_code.h"
#include "storage/explain/suggested_change.h"

namespace tidemark {
namespace {

/// The graphs of the gradients in .grad, down to the tensors that require them. Only backward(create_graph=True)
/// creates nodes while it accumulates gradients.
class GradientCycles {
public:
    explicit GradientCycles(const AnalysisContext& context) : context_(context), graph_(*context.graph()) {
        is_in_cycle_.resize(graph_.tables().nodes.size(), false);
        for (const NodeIndex node : graph_.state.parents_first()) {
            if (is_accumulation(graph_.tables().nodes.origin[node])) {
                add(node);
            }
        }
    }

    int64_t gradients() const { return leaves_.empty() ? 0 : gradients_; }

    /// Returns whether more than half of the suspect's memory lies on the cycles. A workspace that is created at one of
    /// its lines does not count.
    bool retain(const LeakSuspect& suspect) const {
        int64_t all = 0, retained = 0;
        for (const Site* site : suspect.sites) {
            for (const AllocationIndex a : site->now) {
                const int64_t bytes = category_of(a) == Category::workspace
                                          ? 0
                                          : static_cast<int64_t>(context_.device().allocations.block_size[a]);
                all += bytes;
                retained += has(a) ? bytes : 0;
            }
        }
        return 2 * retained > all;
    }

private:
    bool is_accumulation(uint32_t origin) const {
        return context_.trace().origins[origin].op.starts_with("torch::autograd::AccumulateGrad");
    }

    void add(NodeIndex gradient) {
        ++gradients_;
        std::vector<NodeIndex> open{gradient};
        while (!open.empty()) {
            const NodeIndex node = open.back();
            open.pop_back();
            if (!graph_.state.is_alive(node) || is_in_cycle_[node]) {
                continue;
            }
            is_in_cycle_[node] = true;
            if (graph_.index.is_leaf(node)) {
                leaves_.insert(memory_key(graph_.tables().nodes.output[node]));
            }
            const auto children = graph_.index.children(node);
            open.insert(open.end(), children.begin(), children.end());
        }
    }

    /// Returns whether a node saved it, or it is a leaf or a gradient in .grad.
    bool has(AllocationIndex a) const {
        const AllocationRef allocation{context_.device_position(), a};
        const std::vector<uint32_t> retainers = graph_.state.retainers(allocation);
        return leaves_.contains(memory_key(allocation)) ||
               std::any_of(retainers.begin(), retainers.end(),
                           [&](uint32_t saved) { return is_in_cycle_[graph_.index.saver(saved)]; }) ||
               (category_of(a) == Category::gradient && is_accumulation(context_.device().allocations.origin[a]));
    }

    Category category_of(AllocationIndex a) const {
        return graph_.categories.at({context_.device_position(), a}, context_.now_time());
    }

    const AnalysisContext& context_;
    const GraphContext& graph_;
    std::vector<bool> is_in_cycle_;        ///< per node
    std::unordered_set<uint64_t> leaves_;  ///< memory_key() of the tensors that require the gradients
    int64_t gradients_ = 0;                ///< nodes that were created while one was accumulated
};

/// Says which line stores the gradients; "" if that is unknown.
std::string words_of_backward(const Trace& trace, const Words& words) {
    const auto line = backward_with_graph(trace);
    return line ? words("{place} stores them: `{code}`.", with("place", name_of(*line)),
                        with("code", std::string(python_code::code_of(line->text))))
                : std::string();
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!context.graph() || suspect.referrer) {
        return std::nullopt;
    }
    const GradientCycles cycles(context);
    if (cycles.gradients() == 0 || !cycles.retain(suspect)) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    finding.confidence = Confidence::likely;
    finding.title = words("gradients from create_graph=True form a reference cycle with their graphs");
    finding.text = {
        words("Nodes that were created while a gradient was accumulated in .grad, as only backward(create_graph=True) "
              "does, and that are alive: {nodes}. Each such gradient refers to its graph, the graph to the tensor that "
              "requires the gradient, and the tensor, in .grad, to the gradient: a reference cycle. No Python object "
              "refers to it, and the garbage collector does not see it.",
              with("nodes", format_count(cycles.gradients()))),
        retained_so_far(suspect, words)};
    finding.fixes = {
        {words.sentences({words("Request the gradients instead of storing them in .grad."),
                          words_of_backward(context.trace(), words)}),
         "gradients = torch.autograd.grad(loss, parameters, create_graph=True)", suspect.bytes, suspect.per_iteration},
        {words("Or break the cycle after the gradients were used."),
         "for parameter in model.parameters():\n    parameter.grad = None", suspect.bytes, suspect.per_iteration,
         clear_gradients_diff(context.trace())}};
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::create_graph_cycle{FindingKind::create_graph_cycle, classify};

}  // namespace tidemark
