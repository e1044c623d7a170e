// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/gap_neighbors.h"

#include <algorithm>

#include "storage/base/units.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/retention.h"
#include "storage/text/referrer_words.h"

namespace tidemark {
namespace {

/// Fewer tensors of one line are named one by one.
constexpr int64_t fewest_neighbors = 8;

FrameId line_of_block(const AnalysisContext& context, AllocationIndex a) {
    return context.trace().stacks.site(context.device().allocations.stack[a]);
}

/// Returns what lies beside the free gaps of a state, by line, most bytes of gaps first.
std::vector<GapNeighbors> neighbors_of_gaps(const AnalysisContext& context, const MemoryState& state) {
    std::vector<GapNeighbors> groups;
    for (const SegmentState& segment : state.segments) {
        for (size_t b = 0; b < segment.blocks.size() && !segment.cached(); ++b) {
            if (segment.blocks[b].state == BlockState::inactive) {
                // Free neighbors are merged, so the block before or after it is in use.
                const AllocationIndex beside = segment.blocks[b > 0 ? b - 1 : b + 1].allocation;
                add_gap(groups, context, beside, static_cast<int64_t>(segment.blocks[b].size));
            }
        }
    }
    sort_by_free(groups);
    return groups;
}

/// Adds the free memory of the segments in which only tensors of this line are in use.
void add_segments_alone(GapNeighbors& neighbors, const AnalysisContext& context, const MemoryState& state) {
    for (const SegmentState& segment : state.segments) {
        const bool is_theirs = std::all_of(segment.blocks.begin(), segment.blocks.end(), [&](const Block& block) {
            return block.state == BlockState::inactive || line_of_block(context, block.allocation) == neighbors.line;
        });
        if (is_theirs && !segment.cached()) {
            neighbors.alone += static_cast<int64_t>(segment.free());
        }
    }
}

}  // namespace

GapNeighbors& add_gap(std::vector<GapNeighbors>& groups, const AnalysisContext& context, AllocationIndex beside,
                      int64_t free) {
    const FrameId line = line_of_block(context, beside);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const GapNeighbors& g) { return g.line == line; });
    if (group == groups.end()) {
        group = groups.insert(group, GapNeighbors{line, beside});
    }
    group->free += free;
    ++group->count;
    return *group;
}

void sort_by_free(std::vector<GapNeighbors>& groups) {
    std::stable_sort(groups.begin(), groups.end(),
                     [](const GapNeighbors& a, const GapNeighbors& b) { return a.free > b.free; });
}

std::string neighbor_words(const AnalysisContext& context, const Words& words, const GapNeighbors& neighbors) {
    return neighbors.referrer ? referrer_words(context.graph()->tables(), words, *neighbors.referrer)
                              : line_of(context.trace(), context.device().allocations.stack[neighbors.example]);
}

std::optional<GapNeighbors> main_neighbors(const AnalysisContext& context, const OomAnalysis& oom_analysis) {
    const std::vector<GapNeighbors> all = neighbors_of_gaps(context, oom_analysis.state);
    if (all.empty() || all.front().count < fewest_neighbors || 2 * all.front().free < oom_analysis.free_in_segments()) {
        return std::nullopt;
    }
    GapNeighbors neighbors = all.front();
    if (context.graph()) {
        neighbors.referrer = retention_of(*context.graph(), {context.device_position(), neighbors.example}).referrer;
    }
    add_segments_alone(neighbors, context, oom_analysis.state);
    return neighbors;
}

std::string main_neighbors_words(const AnalysisContext& context, const Words& words, const GapNeighbors& neighbors) {
    return words("{free} lie beside {tensors} from {line}.", with("free", format_bytes(neighbors.free)),
                 with("tensors", objects_words(context, neighbors.count, words)),
                 with("line", line_of(context.trace(), context.device().allocations.stack[neighbors.example])));
}

std::string move_neighbors_words(const Words& words) {
    return words(
        "Before the work that needs large tensors, copy what stays into one tensor or to host memory, and drop the "
        "originals: their segments are then free as a whole.");
}

}  // namespace tidemark
