// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// #22: NCCL allocates buffers for each communicator, outside PyTorch's allocator.
#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/driver_memory.h"
#include "storage/explain/finding_parts.h"

namespace tidemark {
namespace {

constexpr int64_t least_bytes = 1 << 20;
/// A call of the program that made NCCL allocate memory.
struct AllocatingCall {
    const DriverAllocation* first = nullptr;
    int64_t bytes = 0;
};

/// Returns the allocating calls, most bytes first. A communicator allocates all its buffers at once, and the program
/// does other work before the next one.
std::vector<AllocatingCall> allocating_calls(const AnalysisContext& context, const LibraryMemory& nccl) {
    std::vector<AllocatingCall> calls;
    const DriverAllocation* last = nullptr;
    for (const DriverAllocation* a : nccl.alive) {
        const bool is_new = !last || a->stack != last->stack ||
                            context.device().events_until(a->time) != context.device().events_until(last->time);
        if (is_new) {
            calls.push_back({a, 0});
        }
        calls.back().bytes += static_cast<int64_t>(a->bytes);
        last = a;
    }
    std::stable_sort(calls.begin(), calls.end(),
                     [](const AllocatingCall& a, const AllocatingCall& b) { return a.bytes > b.bytes; });
    return calls;
}

void add_evidence(Finding& finding, const AnalysisContext& context, const std::vector<AllocatingCall>& calls,
                  const Words& words) {
    constexpr size_t shown = 3;
    for (size_t i = 0; i < std::min(shown, calls.size()); ++i) {
        const DriverAllocation& first = *calls[i].first;
        const std::string line = line_of(context.trace(), first.stack);
        const auto bytes = with("bytes", format_bytes(calls[i].bytes));
        Evidence evidence =
            at_event(context,
                     line.empty() ? words("{bytes} at {time}", bytes, with("time", format_time_point(first.time)))
                                  : words("{bytes} at {line}", bytes, with("line", line)),
                     context.device().events_until(first.time));
        evidence.time = first.time;
        evidence.stack = first.stack;
        evidence.component = ComponentKind::library;
        finding.evidence.push_back(std::move(evidence));
    }
    finding.evidence.push_back(at_component(context, words("NCCL's memory"), ComponentKind::library));
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const auto libraries = device_memory_by_library(context);
    const auto nccl = std::find_if(libraries.begin(), libraries.end(), [](const auto& l) { return l.is_of("nccl"); });
    if (nccl == libraries.end() || nccl->bytes < least_bytes || nccl->grows()) {
        return;
    }
    const std::vector<AllocatingCall> calls = allocating_calls(context, *nccl);
    Finding finding = diagnoses::collective_buffers.new_finding();
    finding.confidence = Confidence::certain;
    finding.basis = words("Each driver call was recorded.");
    finding.bytes = nccl->bytes;
    finding.count = static_cast<int64_t>(nccl->alive.size());
    finding.component = ComponentKind::library;
    finding.since = nccl->alive.front()->time;
    set_line(finding, context, nccl->stack);
    finding.title = words("NCCL allocated {bytes} for communication between GPUs, outside PyTorch's allocator",
                          with("bytes", format_bytes(finding.bytes)));
    finding.text = {
        words(
            "Each process group creates its own communicator at its first collective call. NCCL allocates channels and "
            "buffers for it from the driver, {bytes} in {pieces} so far, and frees them when the group is destroyed.",
            with("bytes", format_bytes(finding.bytes)),
            with("pieces", words.plural(finding.count, "{n} allocation", "{n} allocations"))),
        words("PyTorch does not count this memory: nvidia-smi shows it, torch.cuda.memory_reserved() does not.")};
    if (calls.size() > 1) {
        finding.text.push_back(
            words("NCCL allocated memory {times}, up to {bytes} at once.",
                  with("times", words.plural(static_cast<int64_t>(calls.size()), "{n} time", "{n} times")),
                  with("bytes", format_bytes(calls.front().bytes))));
    }
    add_evidence(finding, context, calls, words);
    finding.fixes = {{words("Create fewer process groups and reuse them; destroy groups that are no longer needed."),
                      "torch.distributed.destroy_process_group(group)",
                      {},
                      {}},
                     {words("Let NCCL use fewer channels and smaller buffers; this costs some bandwidth."),
                      "os.environ[\"NCCL_MAX_NCHANNELS\"] = \"4\"\nos.environ[\"NCCL_BUFFSIZE\"] = \"1048576\"",
                      {},
                      {}}};
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::collective_buffers{FindingKind::collective_buffers, Severity::pattern,
                                              DiagnosisPhase::observation, run, DiagnosisScope::caching_allocator};

}  // namespace tidemark
