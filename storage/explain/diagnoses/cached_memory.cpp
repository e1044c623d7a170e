// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #16: freed memory that the allocator caches.
#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 16 << 20;  ///< less than one segment is not worth a finding

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const int64_t cached = context.row().bytes_of(ComponentKind::cached_segments);
    const int64_t gaps = context.row().bytes_of(ComponentKind::free_in_segments);
    if (cached + gaps < least_bytes) {
        return;
    }
    Finding finding = diagnoses::cached_memory.new_finding();
    finding.basis = words("The allocator's events were replayed: they show which segments hold blocks.");
    finding.bytes = cached + gaps;
    finding.component = cached >= gaps ? ComponentKind::cached_segments : ComponentKind::free_in_segments;
    finding.title = words("PyTorch caches {bytes} of freed memory", with("bytes", format_bytes(finding.bytes)));
    finding.text = {
        words("PyTorch keeps the memory of a freed tensor for the next tensor, so nvidia-smi still counts it. {cached} "
              "lie in cached segments, which can be returned to the driver; {gaps} lie in free gaps between tensors, "
              "which cannot.",
              with("cached", format_bytes(cached)), with("gaps", format_bytes(gaps)))};
    finding.evidence = {
        at_component(context, words("Cached segments: {bytes}", with("bytes", format_bytes(cached))),
                     ComponentKind::cached_segments),
        at_component(context, words("Free gaps between tensors: {bytes}", with("bytes", format_bytes(gaps))),
                     ComponentKind::free_in_segments)};
    finding.fixes = {{words("No fix is needed. If another program needs the memory now, release the cached segments."),
                      "torch.cuda.empty_cache()",
                      cached,
                      {}}};
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::cached_memory{FindingKind::cached_memory, Severity::background, DiagnosisPhase::observation,
                                         run, DiagnosisScope::caching_allocator};

}  // namespace tidemark
