// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// S7, S8: the freed block that served a request and how it was split, or why the allocator needed a new segment.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "storage/base/units.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/experiments.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/reserved_growth.h"
#include "storage/replay/memory_state.h"

namespace tidemark {
namespace {

constexpr uint32_t most_allocations = 400;  ///< in longer runs single requests are not relevant
constexpr size_t most_steps = 5;            ///< programs that train longer are not examined either
constexpr uint64_t least_bytes = 1 << 20;   ///< smaller requests share segments

/// A request that a freed block served.
struct Reuse {
    AllocationIndex allocation = no_allocation, earlier = no_allocation;
};
/// A request that needed a new segment while memory was free.
struct Miss {
    AllocationIndex allocation = no_allocation;
    uint64_t free = 0, largest = 0;
    bool is_enough = false;  ///< whether at least as much was free as was requested
};

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

/// Returns the request for which this segment came from the driver, and what was free for it: memory of the same stream
/// and pool. An expandable segment grows for a request, also if a free piece is at its end.
std::optional<Miss> find_miss(const AnalysisContext& context, const Segment& added) {
    const DeviceHistory& device = context.device();
    const AllocationIndex a = added.alloc_event < 0 ? no_allocation : request_of(device, added.alloc_event);
    if (a == no_allocation || added.is_expandable || device.allocations.block_size[a] < least_bytes) {
        return std::nullopt;
    }
    const MemoryState state = memory_state(device, context.analysis().live(), added.alloc_event);
    Miss miss{a};
    for (const SegmentState& segment : state.segments) {
        const Segment& owner = device.segments[segment.segment];
        if (owner.stream != added.stream || owner.pool != added.pool || owner.is_large != added.is_large) {
            continue;
        }
        miss.free += segment.free();
        for (const Block& block : segment.blocks) {
            miss.largest = std::max(miss.largest, block.state == BlockState::inactive ? block.size : 0);
        }
    }
    const uint64_t size = device.allocations.block_size[a];
    miss.is_enough = miss.free >= size;
    // A piece that is large enough contradicts the recorded request to the driver.
    return miss.free * 2 >= size && miss.largest < size ? std::optional(miss) : std::nullopt;
}

/// Returns the largest request that needed a new segment although enough was free, or else while much was free.
Miss largest_miss(const AnalysisContext& context) {
    const auto rank = [&](const Miss& miss) {
        const AllocationIndex a = miss.allocation;
        return std::pair(miss.is_enough, a == no_allocation ? 0 : context.device().allocations.block_size[a]);
    };
    Miss largest;
    for (const Segment& segment : context.device().segments) {
        const bool is_later = segment.alloc_event >= context.now();
        if (const auto miss = is_later ? std::nullopt : find_miss(context, segment);
            miss && rank(*miss) > rank(largest)) {
            largest = *miss;
        }
    }
    return largest;
}

std::string request_words(const AnalysisContext& context, const Words& words, AllocationIndex a) {
    const std::string line = line_of(context.trace(), context.device().allocations.stack[a]);
    return words("{bytes} requested by {line}",
                 with("bytes", format_bytes(static_cast<int64_t>(context.device().allocations.requested[a]))),
                 with("line", line.empty() ? words("code without a Python frame") : line));
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
    const auto free = with("free", format_bytes(static_cast<int64_t>(miss.free)));
    const auto largest = with("largest", format_bytes(static_cast<int64_t>(miss.largest)));
    finding.text.push_back(
        miss.is_enough
            ? words("{request} needed a new segment from the driver although {free} were free: the largest free piece "
                    "had {largest}. A request needs one contiguous piece; free pieces of different segments cannot be "
                    "merged.",
                    request, free, largest)
            : words("{request} needed a new segment from the driver: {free} were free, and the largest free piece had "
                    "{largest}.",
                    request, free, largest));
    finding.evidence.push_back(at_allocation(context, words("A new segment: {request}", request), miss.allocation));
    if (miss.is_enough && !uses_expandable_segments(context)) {
        finding.fixes.push_back(
            {words("With expandable segments, the free memory at the end of a segment grows instead."),
             "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
             {},
             {}});
    }
}

/// Returns the largest request that a freed block served, and counts them. A piece that is larger than the last block
/// at its address was merged from several.
Reuse largest_reuse(const AnalysisContext& context, const std::set<AllocationIndex>& in_new_segments, int64_t& count) {
    const Allocations& allocations = context.device().allocations;
    Reuse largest;
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        const uint64_t size = allocations.block_size[a];
        const bool is_later = allocations.alloc_event[a] >= context.now();
        if (allocations.alloc_event[a] < 0 || is_later || size < least_bytes || in_new_segments.contains(a)) {
            continue;
        }
        const AllocationIndex earlier = earlier_owner(context.device(), a);
        if (earlier != no_allocation && allocations.block_size[earlier] >= size) {
            ++count;
            const bool is_larger =
                largest.allocation == no_allocation || size > allocations.block_size[largest.allocation];
            largest = is_larger ? Reuse{a, earlier} : largest;
        }
    }
    return largest;
}

std::set<AllocationIndex> requests_of_segments(const DeviceHistory& device) {
    std::set<AllocationIndex> requests;
    for (const Segment& segment : device.segments) {
        if (segment.alloc_event >= 0) {
            requests.insert(request_of(device, segment.alloc_event));
        }
    }
    return requests;
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    const Allocations& allocations = context.device().allocations;
    const bool trains =
        context.iterations().source() == IterationSource::steps && context.iterations().size() > most_steps;
    if (allocations.size() > most_allocations || !context.suspects().empty() || trains) {
        return;
    }
    int64_t reuses = 0;
    const Reuse reuse = largest_reuse(context, requests_of_segments(context.device()), reuses);
    Miss miss = largest_miss(context);
    if (!miss.is_enough && reuse.allocation == no_allocation) {
        miss = {};  // a request that nothing could have served
    }
    const auto size = [&](AllocationIndex a) { return a == no_allocation ? 0 : allocations.block_size[a]; };
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
            : words(
                  "freed blocks served other requests, but one needed a new segment: no freed block was large enough");
    if (reuse.allocation != no_allocation) {
        report_reuse(finding, context, words, reuse, reuses);
    }
    if (miss.allocation != no_allocation) {
        report_miss(finding, context, words, miss);
    }
    findings.push_back(std::move(finding));
}

}  // namespace

const Diagnosis diagnoses::block_reuse{FindingKind::block_reuse, Severity::pattern, DiagnosisPhase::observation, run,
                                       DiagnosisScope::caching_allocator};

}  // namespace tidemark
