// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/stream_caches.h"

#include <algorithm>
#include <map>
#include <set>

#include "storage/explain/reserved_growth.h"

namespace tidemark {
namespace {

/// Programs have a few streams for copies and communication. New ones in few iterations are their start.
constexpr size_t fewest_streams = 8, fewest_iterations = 4;
/// Streams that work at once need memory at once: at most one part in this many may have been in use.
constexpr int64_t least_idle_part = 4;

/// Returns the streams whose first segment was requested after the first iteration, and the iteration of that request.
std::map<uint32_t, int64_t> new_streams(const AnalysisContext& context) {
    std::map<uint32_t, int64_t> first;
    for (const Segment& segment : context.device().segments) {
        if (segment.alloc_event < context.now()) {
            first.try_emplace(segment.stream, context.iterations().at(segment.alloc_event));
        }
    }
    std::erase_if(first, [](const auto& stream) { return stream.second < 1; });
    return first;
}

/// Reads the allocations on these streams.
void add_allocations(StreamCaches& found, const AnalysisContext& context, const std::map<uint32_t, int64_t>& streams) {
    const Allocations& allocations = context.device().allocations;
    std::vector<std::pair<EventNumber, int64_t>> changes;
    std::set<uint32_t> seen;
    for (AllocationIndex a = 0; a < allocations.size() && allocations.alloc_event[a] < context.now(); ++a) {
        const uint32_t segment = allocations.segment[a];
        if (segment == no_segment || !streams.contains(context.device().segments[segment].stream)) {
            continue;
        }
        const auto bytes = static_cast<int64_t>(allocations.block_size[a]);
        changes.emplace_back(allocations.alloc_event[a], bytes);
        changes.emplace_back(allocations.free_event[a], -bytes);
        found.newest = seen.insert(context.device().segments[segment].stream).second ? a : found.newest;
        const bool is_larger =
            found.largest == no_allocation || allocations.block_size[a] > allocations.block_size[found.largest];
        found.largest = is_larger ? a : found.largest;
    }
    std::sort(changes.begin(), changes.end());
    int64_t in_use = 0;
    for (const auto& [event, bytes] : changes) {
        in_use += bytes;
        found.in_use = std::max(found.in_use, in_use);
    }
}

}  // namespace

std::optional<StreamCaches> find_stream_caches(const AnalysisContext& context) {
    const std::map<uint32_t, int64_t> streams = new_streams(context);
    std::set<int64_t> iterations;
    for (const auto& [stream, iteration] : streams) {
        iterations.insert(iteration);
    }
    if (streams.size() < fewest_streams || iterations.size() < fewest_iterations) {
        return std::nullopt;
    }
    StreamCaches found;
    found.streams = static_cast<int64_t>(streams.size());
    found.since = static_cast<size_t>(*iterations.begin());
    for (const Segment& segment : context.device().segments) {
        if (segment.alive_at(context.now()) && streams.contains(segment.stream)) {
            found.reserved += static_cast<int64_t>(segment.size);
        }
    }
    add_allocations(found, context, streams);
    const int64_t peak = context.curves().extremes(Series::allocated, 0, context.now()).max;
    const bool is_idle = found.reserved >= least_idle_part * found.in_use;
    return is_idle && found.largest != no_allocation && found.reserved - found.in_use >= least_unusable_bytes(peak)
               ? std::optional(found)
               : std::nullopt;
}

}  // namespace tidemark
