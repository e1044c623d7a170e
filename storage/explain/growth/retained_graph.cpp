// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S1, #4: graphs with a referrer that did not release their saved tensors: backward(retain_graph=True). Graphs of
// derivatives, if their nodes were not recorded.
#include <cmath>

#include "storage/base/units.h"
#include "storage/explain/derivative_graphs.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/container_fixes.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/suggested_change.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Returns the bytes per iteration that would stay if the graphs released their saved tensors: tensors that also have a
/// referrer in Python.
int64_t retained_without_graph(const AnalysisContext& context, const LeakSuspect& suspect) {
    int64_t bytes = 0;
    for (const Site* site : suspect.sites) {
        const AllocationRef newest{context.device_position(),
                                   site->now[site->now.size() > 2 ? site->now.size() - 2 : 0]};
        if (context.graph()->referrers.in_python(newest)) {
            bytes += std::llround(site->trend.per_iteration /
                                  static_cast<double>(context.surviving_allocations().iterations_per_slice()));
        }
    }
    return bytes;
}

bool is_copy_to_elsewhere(const std::string& type) { return type == "ToCopyBackward0" || type == "CopyBackwards"; }

std::string retention_path_words(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const GraphIndex& index = context.graph()->index;
    const std::string& root = index.type(suspect.retention.root);
    const auto retainer = with("retainer", index.type(suspect.retention.retainer));
    if (suspect.retention.root == suspect.retention.retainer) {
        return words("The retained tensor is the output of the node {retainer}, which saved its inputs for backward.",
                     retainer);
    }
    std::string text =
        words("The retention path leads through the node {root} down to {retainer} and its saved tensors.",
              with("root", root), retainer);
    if (is_copy_to_elsewhere(root)) {
        text += words(
            " The retained tensor may lie in host memory, but the copy is part of the graph: the graph retains all "
            "saved tensors on the GPU.");
    }
    return text;
}

std::vector<Fix> fixes(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    const int64_t stays = retained_without_graph(context, suspect);
    const int64_t goes = suspect.per_iteration - stays;
    const double share =
        suspect.per_iteration == 0 ? 1 : static_cast<double>(goes) / static_cast<double>(suspect.per_iteration);
    Fix drop{words("Remove retain_graph=True: backward then releases the saved tensors."), "loss.backward()",
             std::llround(static_cast<double>(suspect.bytes) * share), goes, release_graph_diff(context.trace())};
    Fix detach{words("Keep the value without its graph."), "", suspect.bytes, suspect.per_iteration};
    if (suspect.referrer) {
        const std::string expression = referrer_expression(context.graph()->tables(), *suspect.referrer);
        detach.text = words("Or store the value in {referrer} without its graph: detach it first.",
                            with("referrer", "`" + expression + "`"));
        detach.code = fmt::format("{}.append(output.detach().cpu())", expression);
        fit_to_graph_containers(detach, context, suspect, words);
    }
    return {std::move(drop), std::move(detach)};
}

Finding derivative_graphs(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    Finding finding = suspect_finding(context, suspect, words);
    finding.confidence = Confidence::likely;
    finding.title = words("graphs of derivatives retain memory from {line}", with("line", finding.line));
    finding.text = {retained_so_far(suspect, words),
                    words("Results within backward passes are among it, also of backward passes through earlier ones. "
                          "Only a graph that create_graph=True created refers to them. Its nodes were not recorded: "
                          "after the first 100,000, short-lived ones are only counted.")};
    finding.fixes = {{words("Cut the graph: detach what one {iteration} passes on to the next, or stores.",
                            with("iteration", iteration_words(suspect.iterations->source(), words))),
                      "value = value.detach()", suspect.bytes, suspect.per_iteration},
                     {words("Or compute the last derivative without create_graph=True."),
                      "torch.autograd.grad(output, inputs)", suspect.bytes, suspect.per_iteration}};
    return finding;
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (is_of_derivative_graphs(context, suspect)) {
        return derivative_graphs(context, suspect, words);
    }
    // A backward pass executed the node, but its saved tensors were not released.
    if (!suspect.through_graph() || suspect.retention.retainer_state != NodeState::executed) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    finding.count = suspect.roots;
    const auto graphs = with("graphs", words.plural(suspect.roots, "{n} autograd graph", "{n} autograd graphs"));
    const auto referrer = with("referrer", finding.referrer);
    const auto bytes = with("bytes", format_bytes(suspect.per_iteration));
    const auto total = with("total", format_bytes(suspect.bytes));
    const auto each = with("iteration", iteration_words(suspect.iterations->source(), words));
    finding.title = finding.referrer.empty() ? words("{graphs} retained after backward(retain_graph=True)", graphs)
                                             : words("{graphs} retained by {referrer}", graphs, referrer);
    finding.text.push_back(
        suspect.rises
            ? words("The autograd graphs stay, with their GPU tensors: {total} in {graphs} so far.", total, graphs)
            : words("Every {iteration} retains its autograd graph, with {bytes} of GPU tensors: {total} in "
                    "{graphs} so far.",
                    each, bytes, total, graphs));
    if (!finding.referrer.empty()) {
        finding.text.push_back(words("The referrer of each graph's root is {referrer}. ", referrer) +
                               retention_path_words(context, suspect, words));
        finding.text.push_back(
            words("Both causes are necessary: {referrer} retains the graphs, and backward(retain_graph=True) keeps "
                  "their saved tensors. Without either one, this memory would be freed.",
                  with("referrer", "`" + referrer_expression(context.graph()->tables(), *suspect.referrer) + "`")));
    } else {
        finding.text.push_back(
            words("A backward pass executed the nodes, but they still have their saved tensors, as retain_graph=True "
                  "requests."));
    }
    finding.fixes = fixes(context, suspect, words);
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::retained_graph{FindingKind::retained_graph, classify};

}  // namespace tidemark
