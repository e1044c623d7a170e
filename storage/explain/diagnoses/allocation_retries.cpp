// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The driver refused a request; it succeeded when the allocator had returned its cached segments.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/experiments.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/returned_memory.h"
#include "storage/replay/memory_state.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 64 << 20;  ///< returned in total
constexpr size_t fewest_of_waste = 3;      ///< one or two may be the start of a program

/// The allocator's free memory before a retry.
struct FreeMemory {
    int64_t reserved = 0, allocated = 0, free = 0, largest = 0;
};

FreeMemory free_memory(const AnalysisContext& context, EventNumber event) {
    const MemoryState state = memory_state(context.device(), context.analysis().live(), event);
    uint64_t largest = state.largest_gap;
    for (const SegmentState& segment : state.segments) {
        largest = std::max(largest, segment.cached() ? segment.size : 0);
    }
    return {static_cast<int64_t>(state.reserved), static_cast<int64_t>(state.allocated),
            static_cast<int64_t>(state.free_in_gaps + state.free_in_cached_segments), static_cast<int64_t>(largest)};
}

std::string cause_words(const FreeMemory& before, bool is_fragmented, const Words& words) {
    const auto reserved = with("reserved", format_bytes(before.reserved));
    const auto allocated = with("allocated", format_bytes(before.allocated));
    const auto free = with("free", format_bytes(before.free));
    return is_fragmented
               ? words(
                     "Before it, {reserved} were reserved, of which {allocated} were allocated: {free} were free, but "
                     "in pieces of at most {largest}. This is fragmentation.",
                     reserved, allocated, free, with("largest", format_bytes(before.largest)))
               : words(
                     "Before it, {reserved} were reserved, of which {allocated} were allocated: the {free} that were "
                     "free are less than the request. The program runs at the limit of its memory.",
                     reserved, allocated, free);
}

void add_fixes(Finding& finding, const AnalysisContext& context, bool is_fragmented, const Words& words,
               Progress& progress) {
    if (!is_fragmented) {
        finding.fixes.push_back(
            {words("Release what is no longer needed before this request, or use smaller batches."), "", {}, {}});
        return;
    }
    add_expandable_fix(finding, context, words, progress);
    finding.fixes.push_back({words("Allocate the largest tensors first, or once and reuse them."), "", {}, {}});
}

Finding make_finding(const AnalysisContext& context, const std::vector<Retry>& all, const Words& words,
                     Progress& progress) {
    const Retry& largest =
        *std::max_element(all.begin(), all.end(), [](const Retry& a, const Retry& b) { return a.bytes < b.bytes; });
    const auto requested = static_cast<int64_t>(context.device().allocations.block_size[largest.request]);
    const FreeMemory before = free_memory(context, largest.event);
    const bool is_fragmented = before.free >= requested;
    Finding finding = diagnoses::allocation_retries.new_finding();
    finding.severity = all.size() >= fewest_of_waste ? Severity::waste : Severity::pattern;
    finding.basis = words(
        "The allocator's events show segments that it returned right before new memory for the same request, which it "
        "does only if the driver refuses.");
    finding.bytes = largest.bytes;
    finding.count = static_cast<int64_t>(all.size());
    finding.component = ComponentKind::cached_segments;
    finding.since = context.device().time_of_state(all.front().event);
    set_line(finding, context, context.device().allocations.stack[largest.request]);
    finding.title =
        words.plural(finding.count, "{n} request succeeded only after PyTorch had returned cached memory to the driver",
                     "{n} requests succeeded only after PyTorch had returned cached memory to the driver");
    finding.text = {
        words("{request} were requested, but the driver refused: the GPU, or what the process may use of it, was full. "
              "PyTorch then returned {bytes} of cached segments to the driver and asked again, with success. "
              "torch.cuda.memory_stats() counts this as num_alloc_retries.",
              with("request", format_bytes(requested)), with("bytes", format_bytes(largest.bytes))),
        cause_words(before, is_fragmented, words),
        words("Each retry waits until the GPU has finished its work, and later requests need new segments again.")};
    finding.evidence = {at_event(context, words("The state before the largest retry"), largest.event),
                        at_allocation(context, words("The request that caused it"), largest.request)};
    add_fixes(finding, context, is_fragmented, words, progress);
    return finding;
}

/// An error explains the retries before it.
void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress& progress) {
    if (context.out_of_memory()) {
        return;
    }
    const std::vector<Retry> all = retries(context);
    int64_t bytes = 0;
    for (const Retry& retry : all) {
        bytes += retry.bytes;
    }
    if (bytes >= least_bytes) {
        findings.push_back(make_finding(context, all, words, progress));
    }
}

}  // namespace

const Diagnosis diagnoses::allocation_retries{FindingKind::allocation_retries, Severity::waste,
                                              DiagnosisPhase::observation, run, DiagnosisScope::caching_allocator};

}  // namespace tidemark
