// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #28: CUDA graphs and compiled code use private pools, which do not grow.
#include "storage/explain/private_pools.h"
#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"

namespace tidemark {
namespace {

/// Part of reserved memory; a smaller part does not need an explanation.
constexpr double least_share = 0.1;

void report_size(Finding& finding, const PrivatePools& found, const Words& words) {
    finding.title = words("CUDA graphs reserve {bytes} in {pools}",
                          with("pools", words.plural(finding.count, "{n} private pool", "{n} private pools")),
                          with("bytes", format_bytes(found.bytes)));
    finding.text = {
        words("A CUDA graph needs fixed addresses, so PyTorch captures each graph into a private pool. Nothing else "
              "uses the pool, and empty_cache() does not release it. The pool is released together with the graph and "
              "the tensors in the pool.")};
    finding.fixes = {shared_pool_fix(words)};
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const PrivatePools found = find_private_pools(context);
    const auto reserved = static_cast<double>(context.curves().value(Series::reserved, context.now()));
    if (found.bytes < least_private_bytes || found.grow() ||
        static_cast<double>(found.bytes) < least_share * reserved) {
        return;
    }
    Finding finding = diagnoses::private_pools.new_finding();
    describe_private_pools(finding, context, found, words);
    report_size(finding, found, words);
    add_pool_evidence(finding, context, found, words);
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::private_pools{FindingKind::private_pools, Severity::background, DiagnosisPhase::observation,
                                         run, DiagnosisScope::caching_allocator};

}  // namespace tidemark
