// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #32: the same values are saved for backward in two dtypes, 32-bit and 16-bit.
#include <algorithm>
#include <set>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// A smaller saving is not worth a change of the program.
constexpr int64_t least_bytes = 1 << 20;
constexpr double least_part_of_peak = 0.02;

struct Pair {
    NodeIndex cast = no_node;
    AllocationRef source, copy;
    NodeIndex source_saver = no_node, copy_saver = no_node;
    int64_t bytes = 0;  ///< of the smaller one
};

class Search {
public:
    Search(const AnalysisContext& context, EventNumber state)
        : context_(context),
          graph_(*context.graph()),
          index_(graph_.index),
          state_(state),
          time_(context.device().time_of_state(state)) {}

    std::vector<Pair> find() {
        const GraphNodes& nodes = graph_.tables().nodes;
        std::vector<Pair> pairs;
        std::set<AllocationIndex> seen;
        for (NodeIndex node = 0; node < nodes.size(); ++node) {
            if (!index_.type(node).starts_with("ToCopyBackward") || index_.children(node).empty()) {
                continue;
            }
            const NodeIndex child = index_.children(node).front();
            Pair pair{node,
                      index_.is_leaf(child) ? AllocationRef{} : nodes.output[child],
                      nodes.output[node],
                      no_node,
                      no_node,
                      0};
            pair.source_saver = saver_of(pair.source);
            pair.copy_saver = saver_of(pair.copy);
            if (pair.source_saver != no_node && pair.copy_saver != no_node && is_cast(pair) &&
                seen.insert(pair.copy.index).second) {
                pair.bytes = std::min(size_of(pair.source), size_of(pair.copy));
                pairs.push_back(pair);
            }
        }
        return pairs;
    }

private:
    /// Returns a node that saves this memory for backward at the peak.
    NodeIndex saver_of(AllocationRef allocation) const {
        const Allocations& allocations = context_.device().allocations;
        if (!allocation || allocation.device != context_.device_position() ||
            allocations.alloc_event[allocation.index] >= state_ || allocations.free_event[allocation.index] < state_ ||
            is_retained_outside_graph(graph_.categories.at(allocation, time_))) {
            return no_node;
        }
        for (const uint32_t saved : index_.saved_in(allocation)) {
            const NodeIndex node = index_.saver(saved);
            if (holds_saved(index_.state(node, time_))) {
                return node;
            }
        }
        return no_node;
    }
    /// Returns whether both have as many elements, in twice or half the bytes.
    bool is_cast(const Pair& pair) const {
        const auto& requested = context_.device().allocations.requested;
        const uint64_t a = requested[pair.source.index], b = requested[pair.copy.index];
        return a == 2 * b || b == 2 * a;
    }
    int64_t size_of(AllocationRef allocation) const {
        return static_cast<int64_t>(context_.device().allocations.block_size[allocation.index]);
    }

    const AnalysisContext& context_;
    const GraphContext& graph_;
    const GraphIndex& index_;
    EventNumber state_;
    int64_t time_;
};

void report(Finding& finding, const AnalysisContext& context, const std::vector<Pair>& pairs, const Words& words) {
    const GraphIndex& index = context.graph()->index;
    const Pair& first = pairs.front();
    const auto bytes = with("bytes", format_bytes(finding.bytes));
    const auto count = with("tensors", words.plural(finding.count, "{n} tensor", "{n} tensors"));
    finding.title =
        words("saved for backward in two dtypes: {tensors}, of which {bytes} are unnecessary", count, bytes);
    finding.text = {
        words("At the peak the graph saves the values of {tensors} twice for backward: in their own dtype, by "
              "{original}, and cast to another dtype, by {cast}.",
              count, with("original", index.type(first.source_saver)), with("cast", index.type(first.copy_saver))),
        words("Mixed precision casts the input of each matrix product to 16 bits; an operation that uses the same "
              "input in 32 bits saves it again. One of the two is enough: {bytes} less.",
              bytes)};
}

/// Returns the tensor of each pair that is not needed.
std::vector<AllocationIndex> smaller_of(const std::vector<Pair>& pairs, const Allocations& all) {
    std::vector<AllocationIndex> smaller;
    for (const Pair& pair : pairs) {
        const bool is_copy = all.block_size[pair.copy.index] <= all.block_size[pair.source.index];
        smaller.push_back(is_copy ? pair.copy.index : pair.source.index);
    }
    return smaller;
}

Finding make_finding(const AnalysisContext& context, EventNumber peak, const std::vector<Pair>& pairs,
                     const Words& words) {
    const Pair& first = pairs.front();
    Finding finding = diagnoses::saved_in_two_dtypes.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("Both are saved tensors of the recorded graph, with the cast between them.");
    for (const Pair& pair : pairs) {
        finding.bytes += pair.bytes;
    }
    finding.memory = memory_of(context, smaller_of(pairs, context.device().allocations), peak);
    finding.count = static_cast<int64_t>(pairs.size());
    finding.component = ComponentKind::requested;
    const GraphNodes& nodes = context.graph()->tables().nodes;
    set_line(finding, context, nodes.stack[first.source_saver]);
    report(finding, context, pairs, words);
    finding.evidence = {at_allocation(context, words("The tensor in its own dtype"), first.source.index),
                        at_node(context, words("The node that saved the tensor"), first.source_saver),
                        at_allocation(context, words("The same values in the other dtype"), first.copy.index),
                        at_node(context, words("The node that saved the cast tensor"), first.copy_saver),
                        at_event(context, words("The peak, at which both are saved"), peak)};
    finding.fixes = {{words("Use the same dtype in both places: cast once, and let both operations use the result."),
                      "x = x.to(torch.get_autocast_dtype(\"cuda\"))  # before both uses", finding.bytes, std::nullopt},
                     {words("Or recompute this part in the backward pass instead of saving it."),
                      "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)", std::nullopt, std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (!context.graph()) {
        return;
    }
    const Extremes peak = context.peak();
    std::vector<Pair> pairs = Search(context, peak.max_event).find();
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.bytes > b.bytes; });
    int64_t bytes = 0;
    for (const Pair& pair : pairs) {
        bytes += pair.bytes;
    }
    if (bytes >= least_bytes && static_cast<double>(bytes) >= least_part_of_peak * static_cast<double>(peak.max)) {
        findings.push_back(make_finding(context, peak.max_event, pairs, words));
    }
}

}  // namespace

const Diagnosis diagnoses::saved_in_two_dtypes{FindingKind::saved_in_two_dtypes, Severity::waste,
                                               DiagnosisPhase::observation, run};

}  // namespace tidemark
