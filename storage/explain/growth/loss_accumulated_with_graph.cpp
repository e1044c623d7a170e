// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #1: total += loss with its graph: a chain of additions across all iterations.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/cross_iteration_graph.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/suggested_change.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

constexpr int64_t fewest_sums = 4;  ///< in a chain: a network also adds two or three tensors in succession

/// Returns the bytes of the sum; nothing if they are unknown.
std::optional<uint64_t> bytes_of_sum(const AnalysisContext& context, const LeakSuspect& suspect) {
    const AllocationRef output = context.graph()->tables().nodes.output[suspect.retention.root];
    const AllocationRef sum = output || !suspect.referrer ? output : suspect.referrer->allocation;
    return sum ? std::optional(context.trace().devices[sum.device].allocations.requested[sum.index]) : std::nullopt;
}

/// Returns the fix that adds numbers, unless the sum is known to be no number, and the one that adds tensors.
std::vector<Fix> fixes(const AnalysisContext& context, const LeakSuspect& suspect, const std::string& variable,
                       StackId stack, const Words& words) {
    constexpr uint64_t largest_number = 8;  ///< bytes of a double
    const std::optional<uint64_t> bytes = bytes_of_sum(context, suspect);
    const auto fix = [&](std::string text, std::string_view value, bool is_certain) {
        return Fix{std::move(text), fmt::format("{} += loss.{}", variable, value), suspect.bytes, suspect.per_iteration,
                   is_certain ? add_value_diff(context.trace(), stack, value) : std::string()};
    };
    if (bytes.value_or(0) > largest_number) {
        return {fix(words("Add the value without its graph."), "detach()", true)};
    }
    return {fix(words("Add the number, not the tensor."), "item()", bytes.has_value()),
            fix(words("Or add the value without its graph, which does not wait for the GPU."), "detach()", true)};
}

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.through_graph() || suspect.roots != 1 ||
        context.graph()->index.type(suspect.retention.root) != "AddBackward0") {
        return std::nullopt;
    }
    const int64_t sums = chain_length_of_same_type(*context.graph(), suspect.retention.root);
    if (sums < fewest_sums) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    finding.count = sums;
    const auto& nodes = context.graph()->tables().nodes;
    set_line(finding, context, nodes.stack[suspect.retention.root]);
    const std::string variable =
        suspect.referrer ? referrer_expression(context.graph()->tables(), *suspect.referrer) : "total";
    const auto name = with("variable", "`" + variable + "`");
    finding.title = suspect.referrer ? words("{variable} accumulates tensors together with their graphs", name)
                                     : words("a running sum retains the graphs of all iterations");
    finding.text = {
        words("Each addition at {line} creates a node that refers to the previous sum: a chain of {sums} nodes so far. "
              "The sum retains a part of every {iteration}: {bytes} each, {total} in total.",
              with("line", finding.line), with("sums", format_count(sums)),
              with("iteration", iteration_words(suspect.iterations->source(), words)),
              with("bytes", format_bytes(suspect.per_iteration)), with("total", format_bytes(suspect.bytes)))};
    if (suspect.retention.retainer_state == NodeState::never_executed) {
        finding.text.push_back(
            words("The sum was never backpropagated, so the nodes below it still retain their saved tensors."));
    }
    finding.fixes = fixes(context, suspect, variable, finding.stack, words);
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::loss_accumulated_with_graph{FindingKind::loss_accumulated_with_graph, classify};

}  // namespace tidemark
