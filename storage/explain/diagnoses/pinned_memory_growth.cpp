// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #31: pinned host memory grows. It is not GPU memory, but is often mistaken for it.
#include <algorithm>
#include <cmath>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/driver_memory.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/gpu_library.h"

namespace tidemark {
namespace {

/// PyTorch's cache of pinned blocks fills slowly; less does not matter to a host.
constexpr int64_t least_pinned_rise = 20 << 20;

/// Returns the library whose pinned memory grows most.
const LibraryMemory* most_growing(const std::vector<LibraryMemory>& libraries) {
    const LibraryMemory* most = nullptr;
    for (const LibraryMemory& library : libraries) {
        if (library.grows() && library.trend.rise >= least_pinned_rise &&
            (!most || library.trend.per_iteration > most->trend.per_iteration)) {
            most = &library;
        }
    }
    return most;
}

void report(Finding& finding, const AnalysisContext& context, const With& each, const Words& words) {
    const auto bytes = with("bytes", format_bytes(*finding.per_iteration));
    finding.text = {words("Pinned host memory, from which the GPU copies without waiting, grows by {bytes} {each}: "
                          "{total} in {pieces} so far.",
                          each, bytes, with("total", format_bytes(finding.bytes)),
                          with("pieces", words.plural(finding.count, "{n} allocation", "{n} allocations"))),
                    words("Pinned memory takes no GPU memory, and nvidia-smi does not show it. The host runs short of "
                          "memory instead, because pinned pages cannot be swapped out.")};
    if (context.has_pytorch()) {
        finding.text.push_back(
            words("PyTorch caches the pinned memory of freed tensors, in sizes rounded up to powers of two. "
                  "Growth means that pinned tensors are retained, or that their sizes keep increasing."));
    }
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    // Pinned memory belongs to no device, so it is reported once, with the main device. Without iterations, a program
    // that pins its buffers at its start would look like one that pins more and more.
    if (&context.device() != &context.trace().main_device() || context.iterations().empty()) {
        return;
    }
    const auto libraries =
        memory_by_library(context, [](const DriverAllocation& a) { return a.kind == DriverMemoryKind::pinned; });
    const LibraryMemory* library = most_growing(libraries);
    if (!library || library->alive.empty()) {
        return;
    }
    Finding finding = diagnoses::pinned_memory_growth.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("Each driver call was recorded over {iterations} iterations.",
                          with("iterations", format_count(static_cast<int64_t>(context.iterations().size()))));
    finding.bytes = library->bytes;
    finding.per_iteration = std::llround(library->trend.per_iteration);
    finding.count = static_cast<int64_t>(library->alive.size());
    set_line(finding, context, library->stack);
    set_since(finding, context.iterations(), growth_begin(context, *library));
    const auto each = with("each", each_iteration(context.iterations().source(), words));
    const auto bytes = with("bytes", format_bytes(*finding.per_iteration));
    finding.title = words("pinned host memory grows by {bytes} {each}; this is not GPU memory", bytes, each);
    report(finding, context, each, words);
    add_growth_evidence(finding, context, *library, words);
    if (!context.has_pytorch()) {
        finding.fixes = fixes_of_driver_growth(GpuLibrary::none, finding.bytes, *finding.per_iteration, words);
        finding.fixes.front().code = "cudaFreeHost(area);";
        findings.push_back(std::move(finding));
        return;
    }
    finding.fixes = {
        {words("Do not retain pinned batches: free each after the copy, or copy into one pinned buffer and reuse it."),
         "staging.copy_(batch)\nbatch_on_gpu = staging.to(\"cuda\", non_blocking=True)", finding.bytes,
         finding.per_iteration},
        {words("Keep what must stay in ordinary tensors, which are not pinned."), "kept.append(batch.clone())",
         finding.bytes, finding.per_iteration}};
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::pinned_memory_growth{FindingKind::pinned_memory_growth, Severity::leak,
                                                DiagnosisPhase::observation, run, DiagnosisScope::any_program};

}  // namespace tidemark
