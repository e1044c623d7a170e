// #31: page-locked host memory grows, which is no GPU memory but is often taken for it.
#include <algorithm>
#include <cmath>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/driver_memory.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// Of several libraries' pinned memory the one that grows most.
const LibraryMemory* most_growing(const std::vector<LibraryMemory>& libraries) {
    const LibraryMemory* most = nullptr;
    for (const LibraryMemory& library : libraries) {
        if (library.grows() && (!most || library.trend.per_iteration > most->trend.per_iteration)) {
            most = &library;
        }
    }
    return most;
}

void report(Finding& finding, const With& each, const Words& words) {
    const auto bytes = with("bytes", format_bytes(*finding.per_iteration));
    finding.text = {
        words("{bytes} more of the computer's own memory, from which the GPU can copy without waiting, are locked "
              "{each}: "
              "{total} in {pieces} by now.",
              each, bytes, with("total", format_bytes(finding.bytes)),
              with("pieces", words.counted(finding.count, "{n} piece", "{n} pieces"))),
        words(
            "It does not take GPU memory, and nvidia-smi does not show it; the computer runs short of memory instead, "
            "and locked pages cannot be swapped out."),
        words("PyTorch keeps page-locked memory for later when a pinned tensor goes, in sizes rounded up to powers of "
              "two; memory that grows means that pinned tensors are kept, or that their sizes keep growing.")};
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    // It is of no device: told once, with the device shown first.
    if (&context.device() != &context.trace().main_device()) {
        return;
    }
    const auto libraries = memory_by_library(context, [](const DriverAllocation& a) { return a.kind == "pinned"; });
    const LibraryMemory* library = most_growing(libraries);
    if (!library || library->alive.empty()) {
        return;
    }
    Finding finding = diagnoses::pinned_memory_growth.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("Each call to the driver was recorded, over {iterations} rounds.",
                          with("iterations", format_count(static_cast<int64_t>(context.iterations().size()))));
    finding.bytes = library->bytes;
    finding.per_iteration = std::llround(library->trend.per_iteration);
    finding.count = static_cast<int64_t>(library->alive.size());
    set_line(finding, context, library->stack);
    set_since(finding, context, began_in(context, *library));
    const auto each = with("each", each_iteration(context, words));
    const auto bytes = with("bytes", format_bytes(*finding.per_iteration));
    finding.title = words("page-locked host memory grows by {bytes} {each}; this is not GPU memory", bytes, each);
    report(finding, each, words);
    add_growth_evidence(finding, context, *library, words);
    finding.fixes = {
        {words(
             "Do not keep pinned batches: let each go after it was copied, or copy into one pinned buffer that is used "
             "again."),
         "staging.copy_(batch)\nbatch_on_gpu = staging.to(\"cuda\", non_blocking=True)", finding.bytes,
         finding.per_iteration},
        {words("Keep what must stay as ordinary tensors, which are not page-locked."), "kept.append(batch.clone())",
         finding.bytes, finding.per_iteration}};
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::pinned_memory_growth{FindingKind::pinned_memory_growth, Severity::leak, Phase::observation,
                                                run};

}  // namespace tidemark
