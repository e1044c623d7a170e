// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #17: freed by the program, but another stream may still use it: record_stream() delays the reuse.
#include <algorithm>
#include <map>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

/// Less memory, or one or two blocks at a time, is the normal use of record_stream(): it ends with the stream's work.
constexpr int64_t least_bytes = 16 << 20;
constexpr int64_t fewest_blocks = 3;
/// Part of reserved memory; a smaller part has little effect on it.
constexpr double least_share = 0.2;

struct Pending {
    EventNumber most_at = 0;  ///< the state with most bytes pending free
    int64_t most = 0;
    std::vector<AllocationIndex> then;  ///< pending free at that state
    StackId stack = 0;                  ///< of most of these allocations
};

/// Finds the state with most bytes pending free, in one pass. The sum changes at frees that do not complete at once.
void find_peak(const DeviceHistory& device, Pending& pending) {
    int64_t sum = 0;
    for (EventNumber n = 0; n < device.event_count(); ++n) {
        const EventRef ref = device.event_ref[static_cast<size_t>(n)];
        const bool ends = ref.action() == Action::free_completed;
        if (!ends && ref.action() != Action::free_requested) {
            continue;
        }
        const auto bytes = static_cast<int64_t>(device.allocations.block_size[ref.index()]);
        const EventNumber freed = device.allocations.free_event[ref.index()];
        const bool was_pending = 0 <= freed && freed < n;
        sum += ends ? (was_pending ? -bytes : 0) : bytes;
        const bool is_next_its_end = n + 1 == device.allocations.free_completed[ref.index()];
        if (!ends && !is_next_its_end && sum > pending.most) {
            pending.most = sum;
            pending.most_at = n + 1;
        }
    }
}

void find_members(const AnalysisContext& context, Pending& pending) {
    const Allocations& allocations = context.device().allocations;
    std::map<StackId, int64_t> by_stack;
    context.analysis().live().for_each_active(pending.most_at, [&](AllocationIndex a) {
        if (allocations.free_event[a] < pending.most_at) {
            pending.then.push_back(a);
            by_stack[allocations.stack[a]] += static_cast<int64_t>(allocations.block_size[a]);
        }
    });
    const auto most = std::max_element(by_stack.begin(), by_stack.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    pending.stack = most == by_stack.end() ? 0 : most->first;
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

void add_evidence(Finding& finding, const AnalysisContext& context, const Pending& pending, const Words& words) {
    finding.evidence.push_back(
        at_event(context, words("The peak of pending frees: {bytes}", with("bytes", format_bytes(pending.most))),
                 pending.most_at));
    finding.evidence.back().component = ComponentKind::pending;
    const auto of_line = std::find_if(pending.then.begin(), pending.then.end(), [&](AllocationIndex a) {
        return context.device().allocations.stack[a] == pending.stack;
    });
    if (of_line != pending.then.end()) {
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
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    Pending pending;
    find_peak(context.device(), pending);
    const auto reserved = static_cast<double>(context.curves().value(Series::reserved, pending.most_at));
    if (pending.most < least_bytes || static_cast<double>(pending.most) < least_share * reserved) {
        return;
    }
    find_members(context, pending);
    const auto count = static_cast<int64_t>(pending.then.size());
    if (count < fewest_blocks) {
        return;
    }
    Finding finding = diagnoses::pending_free.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("The allocator's events show that the free was requested, but completed later.");
    finding.bytes = pending.most;
    finding.count = count;
    finding.component = ComponentKind::pending;
    set_line(finding, context, pending.stack);
    const auto bytes = with("bytes", format_bytes(pending.most));
    const auto blocks = with("blocks", words.plural(count, "{n} freed block", "{n} freed blocks"));
    finding.title = words("freed memory of {bytes} stayed pending because another stream may use it", bytes);
    finding.text = {
        words("At the peak {bytes} were pending free ({blocks}): no tensor used them, but record_stream() had declared "
              "another stream's use, and that stream had not finished its work. PyTorch cannot reuse such blocks. The "
              "longest wait was {time}.",
              blocks, bytes, with("time", format_duration(longest_wait(context.device(), pending.then)))),
        words("Meanwhile PyTorch took new memory for the next tensors: reserved memory reached {reserved}. The program "
              "runs ahead of the GPU, and each batch that it submits in advance occupies a block.",
              with("reserved", format_bytes(static_cast<int64_t>(reserved))))};
    add_evidence(finding, context, pending, words);
    finding.fixes = {
        {words("Let the owning stream wait for the other stream before the tensor is freed. record_stream() is then "
               "unnecessary, and the block can be reused at once."),
         "torch.cuda.current_stream().wait_stream(side)\ndel batch",
         pending.most,
         {}},
        {words("Submit only a few batches in advance."), "side.synchronize()  # every few batches", pending.most, {}}};
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::pending_free{FindingKind::pending_free, Severity::waste, DiagnosisPhase::observation, run};

}  // namespace tidemark
