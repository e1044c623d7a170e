// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #28: the private pools of CUDA graphs grow: one more pool for each new shape.
#include <algorithm>
#include <cmath>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/private_pools.h"

namespace tidemark {
namespace {

void report_growth(Finding& finding, const AnalysisContext& context, const PrivatePools& found, const Words& words) {
    const auto each = with("each", each_iteration(context.iterations().source(), words));
    const auto bytes = with("bytes", format_bytes(*finding.per_iteration));
    finding.title = words("the private pools of CUDA graphs grow by {bytes} {each}", bytes, each);
    finding.text = {
        words("A CUDA graph needs fixed addresses, so PyTorch captures each graph into a private pool that nothing "
              "else uses. At {time_point} the pools hold {total} ({pools}); they grow by {bytes} {each}.",
              with("pools", words.plural(finding.count, "{n} private pool", "{n} private pools")),
              with("total", format_bytes(found.bytes)), with("time_point", time_point_name(context, words)), each,
              bytes),
        words("The usual cause: each new shape is captured or compiled again, and the old graphs stay. The number of "
              "shapes then determines the memory.")};
    finding.fixes = {
        {words("Limit the shapes: pad batches to a few sizes and capture once per size."),
         "size = next(s for s in (64, 128, 256, 512) if s >= len(batch))", finding.bytes, finding.per_iteration},
        shared_pool_fix(words),
        {words("With torch.compile, mark the changing dimension as dynamic."),
         "torch._dynamo.mark_dynamic(batch, 0)",
         {},
         {}}};
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const PrivatePools found = find_private_pools(context);
    if (found.bytes < least_private_bytes || !found.grow()) {
        return;
    }
    Finding finding = diagnoses::cuda_graph_pools_grow.new_finding();
    describe_private_pools(finding, context, found, words);
    finding.per_iteration = std::llround(found.trend.per_iteration);
    const auto last = static_cast<int64_t>(context.iterations().size()) - 1;
    const auto since = std::clamp<int64_t>(context.iterations().at(found.now.front()->alloc_event), 0, last);
    set_since(finding, context.iterations(), static_cast<size_t>(since));
    report_growth(finding, context, found, words);
    finding.evidence.push_back(
        at_iteration(context, context.iterations(),
                     words("The growth begins in {iteration}",
                           with("iteration", iteration_name(context.iterations(), words, since))),
                     since));
    add_pool_evidence(finding, context, found, words);
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::cuda_graph_pools_grow{FindingKind::cuda_graph_pools_grow, Severity::leak,
                                                 DiagnosisPhase::observation, run, DiagnosisScope::caching_allocator};

}  // namespace tidemark
