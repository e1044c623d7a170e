// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #22: process groups are created again and again, and NCCL keeps the communicators and buffers of each.
#include <algorithm>
#include <cmath>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/driver_memory.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// Returns "83.0 MiB per step", or "484 MiB every 6 steps" if a group is made in some steps only.
std::string pace_words(const AnalysisContext& context, int64_t per_iteration, const std::optional<Rises>& rises,
                       const Words& words) {
    const IterationSource unit = context.iterations().source();
    return rises ? words("{bytes} every {iterations}", with("bytes", format_bytes(rises->bytes)),
                         with("iterations", iterations_words(unit, rises->every, words)))
                 : words("{bytes} {each_iteration}", with("bytes", format_bytes(per_iteration)),
                         with("each_iteration", each_iteration(unit, words)));
}

Finding make_finding(const AnalysisContext& context, const LibraryMemory& nccl, const Words& words) {
    Finding finding = diagnoses::process_groups_grow.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("Each driver call was recorded over {iterations} iterations.",
                          with("iterations", format_count(static_cast<int64_t>(context.iterations().size()))));
    finding.bytes = nccl.trend.rise;
    finding.per_iteration = std::llround(nccl.trend.per_iteration);
    finding.count = static_cast<int64_t>(nccl.alive.size());
    finding.component = ComponentKind::library;
    set_line(finding, context, nccl.stack);
    set_since(finding, context.iterations(), growth_begin(context, nccl));
    const std::optional<Rises> rises = rises_of_library(context, nccl);
    const auto pace = with("pace", pace_words(context, *finding.per_iteration, rises, words));
    finding.title = words("process groups accumulate: NCCL's memory grows by {pace}", pace);
    finding.text = {words("NCCL keeps a communicator with channels and buffers for each process group, from its first "
                          "collective until the group is destroyed. Its memory grows by {pace}: {total} so far.",
                          pace, with("total", format_bytes(finding.bytes))),
                    words("`torch.distributed` itself refers to each group, so it stays when the program's last "
                          "variable is gone. torch.cuda.memory_allocated() does not count this memory.")};
    if (!finding.line.empty()) {
        finding.text.push_back(words("The calls come from {line}.", with("line", finding.line)));
    }
    add_rises(finding, rises, context.iterations().source(), words);
    add_growth_evidence(finding, context, nccl, words);
    finding.fixes = {{words("Create the group once and reuse it, or use the default group."),
                      "group = dist.new_group(ranks)  # once, before the loop", finding.bytes, finding.per_iteration},
                     {words("Or destroy each group when it is no longer needed."), "dist.destroy_process_group(group)",
                      finding.bytes, finding.per_iteration}};
    return finding;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    if (context.iterations().empty()) {
        return;
    }
    for (const LibraryMemory& library : device_memory_by_library(context)) {
        if (library.is_of("nccl") && library.grows() && !library.alive.empty()) {
            findings.push_back(make_finding(context, library, words));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::process_groups_grow{FindingKind::process_groups_grow, Severity::leak,
                                               DiagnosisPhase::observation, run, DiagnosisScope::caching_allocator};

}  // namespace tidemark
