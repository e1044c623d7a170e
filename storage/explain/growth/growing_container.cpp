// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S9, #2: a container retains more and more tensors.
#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/suggested_change.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

std::optional<Finding> classify(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words) {
    if (!suspect.referrer) {
        return std::nullopt;
    }
    Finding finding = suspect_finding(context, suspect, words);
    const auto tensors = with("tensors", words.plural(suspect.count, "{n} tensor", "{n} tensors"));
    const auto referrer = with("referrer", finding.referrer);
    finding.title = words("{tensors} retained by {referrer}", tensors, referrer);
    finding.text = {words(
        "Every {iteration} adds {bytes} of GPU tensors from {line}, and none is freed: {total} in {tensors} so far.",
        with("iteration", iteration_words(suspect.iterations->source(), words)),
        with("bytes", format_bytes(suspect.per_iteration)), with("line", finding.line), tensors,
        with("total", format_bytes(suspect.bytes)))};
    const std::string expression = referrer_expression(context.graph()->tables(), growth_paths(context, suspect));
    const bool is_element = container_end(suspect.referrer->links) < suspect.referrer->links.size();
    finding.fixes.push_back({words("If only the values are needed: keep them in host memory, without their graph."),
                             is_element ? fmt::format("{}.append(tensor.detach().cpu())", expression)
                                        : fmt::format("{} = tensor.detach().cpu()", expression),
                             suspect.bytes, suspect.per_iteration,
                             append_value_diff(context.trace(), finding.stack, expression)});
    finding.fixes.push_back(
        {words("Or clear {referrer} after its contents were used.", with("referrer", "`" + expression + "`")),
         is_element ? fmt::format("{}.clear()", expression) : fmt::format("del {}", expression), suspect.bytes,
         suspect.per_iteration});
    return finding;
}

}  // namespace

const SuspectClassifier classifiers::growing_container{FindingKind::growing_container, classify};

}  // namespace tidemark
