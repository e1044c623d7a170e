// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S7, S8: the freed block that served a request and how it was split, or why the allocator needed a new segment.
#include <algorithm>
#include <optional>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/replay/memory_state.h"

namespace tidemark {
namespace {

constexpr uint32_t most_allocations = 400;  ///< in longer runs single requests are not relevant
constexpr size_t most_steps = 5;            ///< programs that train longer are not examined either
constexpr uint64_t least_bytes = 1 << 20;   ///< smaller requests share segments
constexpr EventNumber just_before = 2;      ///< a segment is added right before the allocation that needs it

/// A request that a freed block served.
struct Reuse {
    AllocationIndex allocation = no_allocation, earlier = no_allocation;
};
/// A request that needed a new segment although memory was free.
struct Miss {
    AllocationIndex allocation = no_allocation;
    uint64_t free = 0, largest = 0;
};

bool took_segment(const DeviceHistory& device, AllocationIndex a) {
    const uint32_t segment = device.allocations.segment[a];
    const EventNumber made = device.allocations.alloc_event[a];
    return segment != no_segment && device.segments[segment].alloc_event < made &&
           made - device.segments[segment].alloc_event <= just_before;
}

/// Returns the last freed allocation at this address before `a`.
AllocationIndex earlier_owner(const DeviceHistory& device, AllocationIndex a) {
    AllocationIndex earlier = no_allocation;
    for (const AllocationIndex owner : owners_of_address(device, device.allocations.address[a])) {
        if (owner != a && device.allocations.free_completed[owner] < device.allocations.alloc_event[a] &&
            device.allocations.alloc_event[owner] < device.allocations.alloc_event[a]) {
            earlier = owner;
        }
    }
    return earlier;
}

std::optional<Miss> find_miss(const AnalysisContext& context, AllocationIndex a) {
    const DeviceHistory& device = context.device();
    const MemoryState state =
        memory_state(device, context.analysis().live(), device.segments[device.allocations.segment[a]].alloc_event);
    Miss miss{a, state.free_in_gaps + state.free_in_cached_segments, state.largest_gap};
    for (const SegmentState& segment : state.segments) {
        miss.largest = std::max(miss.largest, segment.cached() ? segment.size : 0);
    }
    return miss.free * 2 >= context.device().allocations.block_size[a] ? std::optional(miss) : std::nullopt;
}

std::string request_words(const AnalysisContext& context, const Words& words, AllocationIndex a) {
    return words("{bytes} requested by {line}",
                 with("bytes", format_bytes(static_cast<int64_t>(context.device().allocations.requested[a]))),
                 with("line", line_of(context.trace(), context.device().allocations.stack[a])));
}

void report_reuse(Finding& finding, const AnalysisContext& context, const Words& words, const Reuse& reuse,
                  int64_t count) {
    const Allocations& allocations = context.device().allocations;
    const uint64_t now = allocations.block_size[reuse.allocation], before = allocations.block_size[reuse.earlier];
    const auto request = with("request", request_words(context, words, reuse.allocation));
    const auto earlier = with("earlier", request_words(context, words, reuse.earlier));
    finding.text.push_back(
        now < before
            ? words("{request} was cut from a freed block of {earlier}; the rest of that block, {rest}, stays free.",
                    request, earlier, with("rest", format_bytes(static_cast<int64_t>(before - now))))
            : words("{request} reused a freed block of {earlier}.", request, earlier));
    if (count > 1) {
        finding.text.back() +=
            words(" Requests that freed memory served: {count}.", with("count", format_count(count)));
    }
    finding.evidence.push_back(at_allocation(context, words("The earlier request: {earlier}", earlier), reuse.earlier));
    finding.evidence.push_back(
        at_allocation(context, words("The request that reused it: {request}", request), reuse.allocation));
}

void report_miss(Finding& finding, const AnalysisContext& context, const Words& words, const Miss& miss) {
    const auto request = with("request", request_words(context, words, miss.allocation));
    finding.text.push_back(
        words("{request} needed a new segment from the driver although {free} were free: the largest free piece had "
              "{largest}. A request needs one contiguous piece; free pieces of different segments cannot be merged.",
              request, with("free", format_bytes(static_cast<int64_t>(miss.free))),
              with("largest", format_bytes(static_cast<int64_t>(miss.largest)))));
    finding.evidence.push_back(at_allocation(context, words("A new segment: {request}", request), miss.allocation));
    finding.fixes.push_back({words("With expandable segments, the free memory at the end of a segment grows instead."),
                             "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                             {},
                             {}});
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const Allocations& allocations = context.device().allocations;
    const bool trains =
        context.iterations().source() == IterationSource::steps && context.iterations().size() > most_steps;
    if (allocations.size() > most_allocations || !context.suspects().empty() || trains) {
        return;
    }
    Reuse reuse;
    Miss miss;
    int64_t reuses = 0;
    const auto size = [&](AllocationIndex a) { return a == no_allocation ? 0 : allocations.block_size[a]; };
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        if (allocations.alloc_event[a] < 0 || allocations.block_size[a] < least_bytes) {
            continue;
        }
        if (took_segment(context.device(), a)) {
            const auto found = find_miss(context, a);
            miss = found && size(a) > size(miss.allocation) ? *found : miss;
        } else if (const AllocationIndex earlier = earlier_owner(context.device(), a); earlier != no_allocation) {
            ++reuses;
            reuse = size(a) > size(reuse.allocation) ? Reuse{a, earlier} : reuse;
        }
    }
    if (reuse.allocation == no_allocation && miss.allocation == no_allocation) {
        return;
    }
    Finding finding = diagnoses::block_reuse.new_finding();
    finding.basis = words("The allocator's events were replayed block by block.");
    finding.count = reuses;
    finding.bytes = static_cast<int64_t>(std::max(size(reuse.allocation), size(miss.allocation)));
    finding.component = ComponentKind::requested;
    const AllocationIndex largest = size(miss.allocation) > size(reuse.allocation) ? miss.allocation : reuse.allocation;
    set_line(finding, context, allocations.stack[largest]);
    finding.title =
        miss.allocation == no_allocation ? words("freed blocks served later requests")
        : reuse.allocation == no_allocation
            ? words("no freed block was large enough: the allocator took a new segment")
            : words("freed blocks served other requests, but one needed a new segment: no freed block was large enough");
    if (reuse.allocation != no_allocation) {
        report_reuse(finding, context, words, reuse, reuses);
    }
    if (miss.allocation != no_allocation) {
        report_miss(finding, context, words, miss);
    }
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::block_reuse{FindingKind::block_reuse, Severity::pattern, DiagnosisPhase::observation, run};

}  // namespace tidemark
