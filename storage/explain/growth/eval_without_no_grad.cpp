// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S10, #7: graphs that were never backpropagated, retained by their outputs: no_grad is missing.
#include "storage/base/units.h"
#include "storage/explain/executed_graphs.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/container_fixes.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/suggested_change.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Sets the code for the container, the attribute or the variable that retains the graphs.
void set_code_to_keep_values(Fix& fix, const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    fix.code = "output = output.detach()";
    if (!suspect.referrer) {
        return;
    }
    const std::string expression = referrer_expression(context.graph()->tables(), suspect.paths);
    const std::vector<PathLink>& links = suspect.referrer->links;
    const size_t end = container_end(links);
    if (end == links.size()) {
        fix.code = fmt::format("{} = output.detach()", expression);
        return;
    }
    fix.code = fmt::format("{}.append(output.detach().cpu())", expression);
    fit_to_graph_containers(fix, context, suspect, words);
}

/// A derivative needs gradients, even if nothing backpropagates it.
std::vector<Fix> fixes(const AnalysisContext& context, const LeakSuspect& suspect, StackId stack, const Words& words) {
    const bool has_derivative = leads_to_executed(context.graph()->index)[suspect.retention.root];
    Fix keep_values{has_derivative ? words("Keep only the values.") : words("Or keep only the values."),
                    {},
                    suspect.bytes,
                    suspect.per_iteration};
    set_code_to_keep_values(keep_values, context, suspect, words);
    if (has_derivative) {
        return {std::move(keep_values)};
    }
    return {{words("Run the evaluation without building graphs."), "with torch.no_grad():\n    output = model(inputs)",
             suspect.bytes, suspect.per_iteration, disable_gradients_diff(context, stack, "torch.no_grad()")},
            std::move(keep_values)};
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.through_graph() || suspect.retention.retainer_state != NodeState::never_executed ||
        suspect.retention.root_state != NodeState::never_executed) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    // Outputs that were joined have one root; each iteration built a graph all the same.
    const auto iterations = static_cast<int64_t>(suspect.iterations->size() - suspect.since);
    const int64_t count = suspect.roots > 1 ? suspect.roots : iterations;
    const auto graphs = with("graphs", words.plural(count, "{n} autograd graph", "{n} autograd graphs"));
    const auto referrer = with("referrer", finding.referrer);
    const auto bytes = with("bytes", format_bytes(suspect.per_iteration));
    const auto total = with("total", format_bytes(suspect.bytes));
    const auto each = with("iteration", iteration_words(suspect.iterations->source(), words));
    finding.count = count;
    finding.title = finding.referrer.empty()
                        ? words("{graphs} never backpropagated", graphs)
                        : words("{graphs} never backpropagated, retained by {referrer}", graphs, referrer);
    finding.text = {
        suspect.rises
            ? words("Autograd graphs are built that are never backpropagated and never freed. They retain "
                    "activations saved for backward: {total} so far.",
                    total)
            : words("Every {iteration} builds an autograd graph that is never backpropagated and never freed. It "
                    "retains {bytes} of activations saved for backward: {total} so far.",
                    each, bytes, total),
        words("An output computed with gradients enabled refers to the whole graph that produced it. A "
              "reference to the output therefore retains the activations of all its modules.")};
    finding.fixes = fixes(context, suspect, finding.stack, words);
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::eval_without_no_grad{FindingKind::eval_without_no_grad, classify};

}  // namespace tidemark
