// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #17: freed by the program, but another stream may still use it: record_stream() delays the reuse.
#include <algorithm>
#include <map>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/needless_segments.h"
#include "storage/timeline/time_point.h"

namespace tidemark {
namespace {

/// Less memory, or one or two blocks at a time, is the normal use of record_stream(): it ends with the stream's work.
constexpr int64_t least_bytes = 16 << 20;
constexpr int64_t fewest_blocks = 3;
/// Part of reserved memory; a smaller part has little effect on it.
constexpr double least_share = 0.2;

/// Returns the stack that allocated most of the blocks.
StackId main_stack(const Allocations& allocations, const std::vector<AllocationIndex>& blocks) {
    std::map<StackId, int64_t> by_stack;
    for (const AllocationIndex a : blocks) {
        by_stack[allocations.stack[a]] += static_cast<int64_t>(allocations.block_size[a]);
    }
    const auto most = std::max_element(by_stack.begin(), by_stack.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == by_stack.end() ? 0 : most->first;
}

int64_t longest_wait(const DeviceHistory& device, const std::vector<AllocationIndex>& members) {
    int64_t longest = 0;
    for (const AllocationIndex a : members) {
        const EventNumber done = device.allocations.free_completed[a];
        const EventNumber last = device.event_count() - 1;
        longest =
            std::max(longest, device.event_time[static_cast<size_t>(std::min(done, last))] - *device.free_time(a));
    }
    return longest;
}

void add_evidence(Finding& finding, const AnalysisContext& context, const NeedlessSegments& needless,
                  const Words& words) {
    finding.evidence.push_back(at_event(
        context, words("The peak of pending frees: {bytes}", with("bytes", format_bytes(needless.most_pending))),
        needless.most_pending_at));
    finding.evidence.back().component = ComponentKind::pending;
    const auto of_line = std::find_if(needless.pending.begin(), needless.pending.end(), [&](AllocationIndex a) {
        return context.device().allocations.stack[a] == finding.stack;
    });
    if (of_line != needless.pending.end()) {
        const EventNumber freed = context.device().allocations.free_event[*of_line];
        Evidence one = at_event(
            context,
            words("A pending free: {bytes}, freed here",
                  with("bytes", format_bytes(static_cast<int64_t>(context.device().allocations.block_size[*of_line])))),
            freed + 1);
        one.allocation = {context.device_position(), *of_line};
        one.stack = context.device().allocations.free_stack[*of_line];
        finding.evidence.push_back(std::move(one));
    }
    finding.evidence.push_back(
        at_event(context, words("The last segment that a pending block could have replaced"), needless.last));
}

void report(Finding& finding, const AnalysisContext& context, const NeedlessSegments& needless, const Words& words) {
    const auto bytes = with("bytes", format_bytes(needless.bytes));
    const auto blocks = with(
        "blocks", words.plural(static_cast<int64_t>(needless.pending.size()), "{n} freed block", "{n} freed blocks"));
    finding.title = words("PyTorch reserved another {bytes} because freed memory stayed pending", bytes);
    finding.text = {
        words("{segments} of {bytes} came from the driver although a freed block was large enough for the request: it "
              "was pending.",
              with("segments", words.plural(needless.count, "{n} segment", "{n} segments")), bytes),
        words("At the peak {bytes} were pending free ({blocks}): no tensor used them, but record_stream() had declared "
              "another stream's use, and that stream had not finished its work. PyTorch cannot reuse such blocks.",
              blocks, with("bytes", format_bytes(needless.most_pending))),
        words("The program runs ahead of the GPU, and each batch that it submits in advance occupies a block.")};
    if (has_times(context.trace(), context.device())) {
        const int64_t wait = longest_wait(context.device(), needless.pending);
        finding.text[1] = words.sentences(
            {finding.text[1], words("The longest wait was {time}.", with("time", format_duration(wait)))});
    }
    finding.fixes = {
        {words("Let the owning stream wait for the other stream before the tensor is freed. record_stream() is then "
               "unnecessary, and the block can be reused at once."),
         "torch.cuda.current_stream().wait_stream(side)\ndel batch",
         needless.bytes,
         {}},
        {words("Submit only a few batches in advance."),
         "side.synchronize()  # every few batches",
         needless.bytes,
         {}}};
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const NeedlessSegments needless = find_needless_segments(context);
    const auto reserved = static_cast<double>(context.curves().extremes(Series::reserved, 0, needless.last + 1).max);
    if (needless.bytes < least_bytes || static_cast<double>(needless.bytes) < least_share * reserved ||
        needless.count < fewest_blocks) {
        return;
    }
    Finding finding = diagnoses::pending_free.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words(
        "The allocator's events show that the frees were requested, but completed only after a new segment was taken.");
    finding.bytes = needless.bytes;
    finding.count = needless.count;
    finding.component = ComponentKind::pending;
    set_line(finding, context, main_stack(context.device().allocations, needless.pending));
    report(finding, context, needless, words);
    add_evidence(finding, context, needless, words);
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::pending_free{FindingKind::pending_free, Severity::waste, DiagnosisPhase::observation, run,
                                        DiagnosisScope::caching_allocator};

}  // namespace tidemark
