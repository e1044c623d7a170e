// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/pinned_gaps.h"

#include <algorithm>
#include <unordered_map>

#include "storage/explain/reserved_growth.h"
#include "storage/replay/memory_state.h"

namespace tidemark {
namespace {

/// Younger gaps may still be used: the work of an iteration has not come back to them.
constexpr EventNumber recent_part = 4;
/// A single block that was split is a detail (block-reuse).
constexpr size_t fewest_segments = 5;
/// A line that allocated so often has repeated its work.
constexpr int fewest_repetitions = 5;

/// A free gap between blocks.
struct Gap {
    uint64_t begin = 0, end = 0;
    size_t segment = 0;                                    ///< in MemoryState::segments
    EventNumber since = before_history;                    ///< when the younger of its neighbors was allocated
    EventNumber settled = before_history;                  ///< what was freed before this state does not return
    AllocationIndex neighbor = no_allocation;              ///< before it, or else after it
    AllocationIndex last = no_allocation;                  ///< the newest tensor that lay in it
    std::vector<std::pair<uint64_t, uint64_t>> used = {};  ///< parts that were allocated since then
};

/// Returns the state at which the last quarter of the iterations, or of the run, begins.
EventNumber begin_of_recent(const AnalysisContext& context) {
    const Iterations& iterations = context.iterations();
    return iterations.size() >= recent_part ? iterations[iterations.size() - iterations.size() / recent_part].first
                                            : context.now() - context.now() / recent_part;
}

/// Returns the state in which the allocator last took a segment from the driver.
EventNumber last_segment(const AnalysisContext& context) {
    EventNumber last = before_history;
    for (const Segment& segment : context.device().segments) {
        last = segment.alloc_event < context.now() ? std::max(last, segment.alloc_event) : last;
    }
    return last;
}

/// Returns the last state in which the allocator took a segment although gaps were free, if the work after it was
/// repeated without using them; otherwise before_history.
EventNumber last_settled_segment(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    const EventNumber last = last_segment(context);
    std::unordered_map<StackId, int> repetitions;
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        const bool is_later = allocations.alloc_event[a] > last && allocations.alloc_event[a] < context.now();
        if (is_later && ++repetitions[allocations.stack[a]] == fewest_repetitions) {
            return last;
        }
    }
    return before_history;
}

/// Returns whether the tensor belongs to the data of the program. Models and optimizers allocate theirs among the
/// temporaries of the first iterations, whose gaps other phases of the program use again.
bool is_data(const AnalysisContext& context, AllocationIndex a) {
    return context.graph() && !is_retained_by_model_or_library(
                                  context.graph()->categories.at({context.device_position(), a}, context.now_time()));
}

/// Returns the gaps of segments with blocks in use, by address.
std::vector<Gap> gaps_before(const MemoryState& state, const AnalysisContext& context, EventNumber recent) {
    const Allocations& allocations = context.device().allocations;
    const EventNumber settled = last_settled_segment(context);
    std::vector<Gap> gaps;
    for (size_t s = 0; s < state.segments.size(); ++s) {
        const std::vector<Block>& blocks = state.segments[s].blocks;
        for (size_t b = 0; b < blocks.size() && !state.segments[s].cached(); ++b) {
            if (blocks[b].state != BlockState::inactive) {
                continue;
            }
            Gap gap{blocks[b].address, blocks[b].address + blocks[b].size, s};
            gap.settled = settled;
            const auto add_neighbor = [&](AllocationIndex a) {
                gap.neighbor = gap.neighbor == no_allocation ? a : gap.neighbor;
                gap.since = std::max(gap.since, allocations.alloc_event[a]);
                gap.settled = is_data(context, a) ? gap.settled : before_history;
            };
            if (b > 0) {
                add_neighbor(blocks[b - 1].allocation);
            }
            if (b + 1 < blocks.size()) {
                add_neighbor(blocks[b + 1].allocation);
            }
            if (gap.since != before_history && gap.since < std::max(recent, gap.settled)) {
                gaps.push_back(gap);
            }
        }
    }
    std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.begin < b.begin; });
    return gaps;
}

/// Adds the allocations in gaps: later ones than the neighbors, and older ones that were freed only lately.
void find_uses(std::vector<Gap>& gaps, const Allocations& allocations, EventNumber recent, EventNumber now) {
    for (AllocationIndex a = 0; a < allocations.size(); ++a) {
        const uint64_t begin = allocations.address[a], end = begin + allocations.block_size[a];
        auto gap = std::partition_point(gaps.begin(), gaps.end(), [&](const Gap& g) { return g.end <= begin; });
        for (; gap != gaps.end() && gap->begin < end; ++gap) {
            gap->last = allocations.alloc_event[a] < now ? a : gap->last;
            const bool is_use = allocations.alloc_event[a] > gap->since || allocations.free_completed[a] >= recent;
            const bool is_over = allocations.free_completed[a] < gap->settled;
            if (is_use && !is_over && allocations.alloc_event[a] < now) {
                gap->used.emplace_back(std::max(begin, gap->begin), std::min(end, gap->end));
            }
        }
    }
}

/// Returns whether the line of the neighbor also made the newest tensor that lay in the gap.
bool had_tensor_of_neighbor_line(const AnalysisContext& context, const Gap& gap) {
    const Allocations& allocations = context.device().allocations;
    const StackTable& stacks = context.trace().stacks;
    return gap.last != no_allocation &&
           stacks.site(allocations.stack[gap.last]) == stacks.site(allocations.stack[gap.neighbor]);
}

/// Returns the bytes of the gap that were not allocated since it exists.
int64_t unused_bytes(Gap& gap) {
    std::sort(gap.used.begin(), gap.used.end());
    uint64_t unused = gap.end - gap.begin, at = gap.begin;
    for (const auto& [begin, end] : gap.used) {
        unused -= std::max(end, at) - std::max(begin, at);
        at = std::max(at, end);
    }
    return static_cast<int64_t>(unused);
}

AllocationIndex largest_block(const SegmentState& segment) {
    const auto used_bytes = [](const Block& b) { return b.state == BlockState::inactive ? 0 : b.size; };
    return std::max_element(segment.blocks.begin(), segment.blocks.end(),
                            [&](const Block& a, const Block& b) { return used_bytes(a) < used_bytes(b); })
        ->allocation;
}

}  // namespace

std::optional<PinnedGaps> find_pinned_gaps(const AnalysisContext& context) {
    const Allocations& allocations = context.device().allocations;
    const MemoryState state = memory_state(context.device(), context.analysis().live(), context.now());
    const EventNumber recent = begin_of_recent(context);
    std::vector<Gap> gaps = gaps_before(state, context, recent);
    find_uses(gaps, allocations, recent, context.now());
    const EventNumber last = last_segment(context);
    std::vector<int64_t> free(state.segments.size(), 0);
    int64_t missed = 0;  // bytes of gaps that existed when the program needed more memory from the driver
    PinnedGaps found;
    for (Gap& gap : gaps) {
        const int64_t bytes = unused_bytes(gap);
        free[gap.segment] += bytes;
        missed += gap.since < last ? bytes : 0;
        found.of_same_line += had_tensor_of_neighbor_line(context, gap) ? bytes : 0;
    }
    for (size_t s = 0; s < free.size(); ++s) {
        if (free[s] > 0) {
            found.segments.push_back({free[s], largest_block(state.segments[s])});
            found.free += free[s];
            found.in_use += static_cast<int64_t>(state.segments[s].allocated + state.segments[s].pending);
        }
    }
    std::stable_sort(found.segments.begin(), found.segments.end(),
                     [](const PinnedSegment& a, const PinnedSegment& b) { return a.free > b.free; });
    const int64_t peak = context.curves().extremes(Series::allocated, 0, context.now()).max;
    return found.segments.size() >= fewest_segments && missed >= least_unusable_bytes(peak) ? std::optional(found)
                                                                                            : std::nullopt;
}

}  // namespace tidemark
