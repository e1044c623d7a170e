// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The analysis context: all data about one device of a trace that diagnoses use, computed once.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "storage/analysis/analysis.h"
#include "storage/breakdown/breakdown.h"
#include "storage/explain/intervals.h"
#include "storage/explain/leak_suspects.h"
#include "storage/explain/oom/error_outcome.h"
#include "storage/graph/earlier_roots.h"
#include "storage/graph/graph.h"
#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark {

/// Data that exists only if a graph was recorded, at the context's time point.
struct GraphContext {
    std::shared_ptr<const Graph> graph;
    const GraphIndex& index;
    const Categories& categories;
    GraphState state;
    ReferrerIndex referrers;  ///< at the heap scan that describes the time point best
    GraphState scanned;       ///< the graph at that scan: a variable may refer to another root at the time point
    EarlierRoots earlier_roots;
    std::vector<ReferrerGroup> groups;                       ///< at that scan
    std::unordered_map<uint32_t, size_t> group_of_referrer;  ///< in GraphTables::referrers -> in groups

    GraphContext(std::shared_ptr<const Graph> whole, int64_t time, int64_t scan_time);
    GraphContext(const GraphContext&) = delete;
    GraphContext& operator=(const GraphContext&) = delete;

    const GraphTables& tables() const { return index.tables(); }
    /// Returns whether the allocation existed at the heap scan.
    bool was_scanned(AllocationRef allocation) const;
    const std::string& text(uint32_t id) const { return tables().texts[id]; }
    /// Returns nullptr if the referrer belongs to no group.
    const ReferrerGroup* group_of(const Referrer* referrer) const;
};

/// The part of a run to explain.
struct RunPart {
    std::optional<EventNumber> from;  ///< a state; earlier iterations do not count. Nothing: the begin of the trace
    std::optional<EventNumber> at;    ///< the state to explain. Nothing: see AnalysisContext::now()
};

/// Immutable after construction. Thread: any.
class AnalysisContext {
public:
    /// `graph` may be nullptr or empty, as for an imported snapshot. Walks all events a few times.
    AnalysisContext(std::shared_ptr<const Analysis> analysis, std::shared_ptr<const Graph> graph, RunPart part = {});

    /// Returns the context of another part of the same run.
    AnalysisContext of_part(RunPart part) const { return {analysis_, graph_ ? graph_->graph : nullptr, part}; }

    const Trace& trace() const { return analysis_->trace(); }
    /// Returns whether the trace is an imported snapshot, not a recording of a run.
    bool is_snapshot() const { return trace().processes.empty(); }
    /// Returns whether PyTorch allocated any of the memory.
    bool has_pytorch() const { return has_pytorch_; }
    /// Returns for how long (ns) a program without PyTorch went on without allocations after it had made them all:
    /// longer than it took to make them. Then they are its start, and no growth. Nothing: it allocated to the end.
    std::optional<int64_t> quiet_after_allocations() const;
    /// Returns whether a snapshot contains only the state when it was taken: no event allocates.
    bool lacks_history() const;
    /// Returns whether a snapshot contradicts itself: at its peak, more memory is allocated than is reserved.
    bool contradicts_itself() const;
    const DeviceHistory& device() const { return analysis_->device(); }
    uint32_t device_position() const { return device_position_; }  ///< in Trace::devices
    const Analysis& analysis() const { return *analysis_; }
    const Curves& curves() const { return analysis_->curves(); }
    const Breakdown& breakdown() const { return breakdown_; }
    const Iterations& iterations() const { return intervals_.front().iterations; }
    /// Returns the memory that outlives iterations().
    const SurvivingAllocations& surviving_allocations() const { return intervals_.front().surviving; }
    const std::vector<LeakSuspect>& suspects() const { return growing_.suspects; }
    /// Returns whether memory rises that ends with the model (see ModelBound).
    bool has_bounded_growth() const { return growing_.has_bounded; }
    /// Returns nullptr if no graph was recorded.
    const GraphContext* graph() const { return graph_.get(); }

    /// Returns the context's time point: RunPart::at; otherwise the OOM if the run ended with one, else the end of the
    /// last iteration, else the last state before the program freed its tensors. Of a snapshot the final state: it was
    /// taken while the program ran.
    EventNumber now() const { return now_; }
    /// Returns whether the user chose it.
    bool has_chosen_time_point() const { return part_.at.has_value(); }
    int64_t now_time() const { return now_time_; }
    /// Returns the peak of allocated memory: of the whole trace, or up to the time point that the user chose.
    Extremes peak() const;
    const BreakdownRow& row() const { return row_; }  ///< at the context's time point
    /// Returns the OOM after which the work did not go on; nullptr: there was none.
    const OtherEvent* out_of_memory() const { return oom_.last; }
    /// Returns the OOMs that the program caught and after which the work went on.
    const std::vector<const OtherEvent*>& caught_errors() const { return oom_.caught; }

    /// Returns the lowest allocated bytes of each iteration: the memory that stays when the iteration's own memory is
    /// freed.
    const std::vector<int64_t>& allocated_floor() const { return floor_; }
    const Trend& allocated_trend() const { return trend_; }
    /// Returns whether that memory rises to the end, from the beginning or only in the last quarter.
    bool rises_to_the_end() const;
    /// Returns the highest allocated bytes within each iteration.
    const std::vector<int64_t>& allocated_peaks() const { return peaks_; }

private:
    Iterations main_iterations() const;
    /// Returns the end of the last iteration or of the work, before the program ends.
    EventNumber end_of_run(const Iterations& main, const GraphTables* tables) const;
    /// Also ends the last iteration of a loop there.
    void select_now(Iterations& main, const GraphTables* tables);
    void find_extremes();

    std::shared_ptr<const Analysis> analysis_;
    RunPart part_;
    bool has_pytorch_ = true;
    uint32_t device_position_ = 0;
    Breakdown breakdown_;
    OomErrors oom_;
    EventNumber now_ = 0;
    int64_t now_time_ = 0;
    BreakdownRow row_;
    std::vector<int64_t> floor_, peaks_;
    Trend trend_;
    std::vector<Interval> intervals_;  ///< the main one first
    std::unique_ptr<GraphContext> graph_;
    Growing growing_;
};

}  // namespace tidemark
