// The case: everything about one device of a trace that diagnoses ask for, made once.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "storage/analysis/analysis.h"
#include "storage/breakdown/breakdown.h"
#include "storage/explain/iterations.h"
#include "storage/explain/surviving_allocations.h"
#include "storage/explain/suspects.h"
#include "storage/graph/graph.h"
#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark {

/// What there is only where a graph was recorded, at the moment the case is about.
struct GraphContext {
    std::shared_ptr<const Graph> graph;
    const GraphIndex& index;
    const Categories& categories;
    GraphState time_point;
    ReferrerIndex referrers;   ///< of the search that speaks best of the moment
    GraphState searched;  ///< the graph as it was at that search: a variable may have gone on to another root since
    std::vector<ReferrerGroup> groups;                       ///< at that search
    std::unordered_map<uint32_t, size_t> group_of_referrer;  ///< position in GraphTables::holders -> in groups

    GraphContext(std::shared_ptr<const Graph> whole, int64_t time, int64_t scan_time);
    GraphContext(const GraphContext&) = delete;
    GraphContext& operator=(const GraphContext&) = delete;

    const GraphTables& tables() const { return index.tables(); }
    /// It was there when the program's objects were searched.
    bool was_scanned(AllocationRef allocation) const;
    const std::string& text(uint32_t id) const { return tables().texts[id]; }
    /// nullptr: of none.
    const ReferrerGroup* group_of(const Referrer* referrer) const;
};

/// Immutable once made. Thread: any.
class AnalysisContext {
public:
    /// `graph` may be nullptr or empty: an imported snapshot has none. Walks every event a few times.
    AnalysisContext(std::shared_ptr<const Analysis> analysis, std::shared_ptr<const Graph> graph);

    const Trace& trace() const { return analysis_->trace(); }
    const DeviceHistory& device() const { return analysis_->device(); }
    uint32_t device_position() const { return device_position_; }  ///< in Trace::devices
    const Analysis& analysis() const { return *analysis_; }
    const Curves& curves() const { return analysis_->curves(); }
    const Breakdown& breakdown() const { return breakdown_; }
    const Iterations& iterations() const { return iterations_; }
    const SurvivingAllocations& surviving_allocations() const { return surviving_allocations_; }
    const std::vector<LeakSuspect>& suspects() const { return suspects_; }
    /// nullptr: no graph was recorded.
    const GraphContext* graph() const { return graph_.get(); }

    /// The moment the case is about: the OOM if the run had one at its end, else the end of the last round, else the
    /// last state before the program's tensors went away.
    EventNumber now() const { return now_; }
    int64_t now_time() const { return now_time_; }
    const BreakdownRow& row() const { return row_; }  ///< of that moment
    /// The last OOM that was not survived by a retry; nothing: none.
    const OtherEvent* out_of_memory() const { return oom_; }

    /// Lowest bytes per round: what stays when the round's own work is gone. One value per round.
    const std::vector<int64_t>& allocated_floor() const { return floor_; }
    const Trend& allocated_trend() const { return trend_; }
    /// Highest bytes within each round.
    std::vector<int64_t> peaks(Series series) const;

private:
    void select_now(const GraphTables* tables);
    /// After training a program may evaluate, in rounds that are no steps: if memory grows there, these are the rounds.
    void look_behind_the_steps();
    void find_floor();

    std::shared_ptr<const Analysis> analysis_;
    uint32_t device_position_ = 0;
    Breakdown breakdown_;
    const OtherEvent* oom_ = nullptr;
    Iterations iterations_;
    EventNumber now_ = 0;
    int64_t now_time_ = 0;
    BreakdownRow row_;
    std::vector<int64_t> floor_;
    Trend trend_;
    SurvivingAllocations surviving_allocations_;
    std::unique_ptr<GraphContext> graph_;
    std::vector<LeakSuspect> suspects_;
};

}  // namespace tidemark
