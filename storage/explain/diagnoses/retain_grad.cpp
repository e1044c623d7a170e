// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S4, #8: retain_grad() on tensors that are not leaves: their gradients stay after the backward pass.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/backward_passes.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// A smaller saving is not worth a change of the program.
constexpr int64_t least_bytes = 1 << 20;
constexpr size_t most_nodes_named = 3;

struct Retained {
    std::vector<AllocationIndex> gradients;  ///< most bytes first
    int64_t bytes = 0;
    std::vector<std::string> nodes;  ///< types of the nodes whose results have these gradients, each once
};

/// Returns "MulBackward0" for "MulBackward0 > aten::clone".
std::string node_of(const std::string& op) { return op.substr(0, op.find(" > ")); }

Retained find(const AnalysisContext& context) {
    Retained found;
    const Allocations& allocations = context.device().allocations;
    context.analysis().live().for_each_active(context.now(), [&](AllocationIndex a) {
        const bool is_gradient =
            allocations.free_event[a] >= context.now() && is_retained_gradient(context, a) &&
            context.graph()->categories.at({context.device_position(), a}, never_happened) == Category::gradient;
        if (is_gradient) {
            found.gradients.push_back(a);
            found.bytes += static_cast<int64_t>(allocations.block_size[a]);
            const std::string node = node_of(context.trace().origins[allocations.origin[a]].op);
            if (std::find(found.nodes.begin(), found.nodes.end(), node) == found.nodes.end()) {
                found.nodes.push_back(node);
            }
        }
    });
    std::stable_sort(found.gradients.begin(), found.gradients.end(), [&](AllocationIndex a, AllocationIndex b) {
        return allocations.block_size[a] > allocations.block_size[b];
    });
    found.nodes.resize(std::min(found.nodes.size(), most_nodes_named));
    return found;
}

/// Returns the stack of the line whose result has this gradient: that of the node executed right after the copy was
/// created.
StackId stack_of(const AnalysisContext& context, AllocationIndex gradient) {
    const GraphContext& graph = *context.graph();
    const GraphNodes& nodes = graph.tables().nodes;
    const std::string type = node_of(context.trace().origins[context.device().allocations.origin[gradient]].op);
    const int64_t made = context.device().alloc_time(gradient);
    NodeIndex next = no_node;
    for (NodeIndex node = 0; node < nodes.size(); ++node) {
        if (nodes.executed[node] >= made && nodes.executed[node] != never_happened && graph.index.type(node) == type &&
            (next == no_node || nodes.executed[node] < nodes.executed[next])) {
            next = node;
        }
    }
    return next == no_node ? context.device().allocations.stack[gradient] : nodes.stack[next];
}

void report(Finding& finding, const Retained& found, const Words& words) {
    const auto bytes = with("bytes", format_bytes(found.bytes));
    finding.title = words("retain_grad() retains {bytes} of gradients of {tensors}", bytes,
                          with("tensors", words.plural(finding.count, "{n} tensor", "{n} tensors")));
    finding.text = {
        words("Only parameters and other leaves need a gradient after the backward pass. The program called "
              "retain_grad() on {tensors}, so the backward pass of {nodes} copied each gradient. Each copy is as large "
              "as its tensor and exists as long as the tensor.",
              with("tensors", words.plural(finding.count, "{n} result of an operation", "{n} results of operations")),
              with("nodes", words.list(found.nodes))),
        words("This retains {bytes}.", bytes)};
}

Finding make_finding(const AnalysisContext& context, const Retained& found, const Words& words) {
    const AllocationIndex largest = found.gradients.front();
    Finding finding = diagnoses::retain_grad.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words(
        "The gradients belong to tensors that are not leaves, and their nodes allocated the copies in the backward "
        "pass.");
    finding.bytes = found.bytes;
    set_allocations(finding, context, found.gradients, context.now());
    set_line(finding, context, stack_of(context, largest));
    if (const Referrer* referrer = context.graph()->referrers.of(AllocationRef{context.device_position(), largest})) {
        finding.referrer = referrer_words(context.graph()->tables(), words, *referrer);
    }
    report(finding, found, words);
    finding.evidence = {at_allocation(context, words("The largest of these gradients"), largest),
                        at_event(context,
                                 words("The gradients still exist at {time_point}",
                                       with("time_point", time_point_name(context, words))),
                                 context.now())};
    finding.fixes = {
        {words("Remove retain_grad() if these gradients are not used."), "", found.bytes, std::nullopt},
        {words("To inspect a gradient during the backward pass, register a hook: it retains nothing."),
         "activation.register_hook(lambda gradient: norms.append(gradient.norm().item()))", found.bytes, std::nullopt}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (!context.graph()) {
        return;
    }
    if (const Retained found = find(context); found.bytes >= least_bytes) {
        findings.push_back(make_finding(context, found, words));
    }
}

}  // namespace

const Diagnosis diagnoses::retain_grad{FindingKind::retain_grad, Severity::waste, DiagnosisPhase::observation, run};

}  // namespace tidemark
