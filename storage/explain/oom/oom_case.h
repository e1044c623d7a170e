// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One out-of-memory error with the facts that its fixes are derived from.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "storage/explain/experiments.h"
#include "storage/explain/oom/failed_iteration.h"
#include "storage/explain/oom/largest_input.h"
#include "storage/explain/oom/oom_analysis.h"
#include "storage/explain/oom/retained_memory.h"

namespace tidemark {

/// Immutable. Keeps references to the context and the analysis. Thread: any.
class OomCase {
public:
    /// `experiments`: replays of the run; empty if nothing was replayed.
    OomCase(const AnalysisContext& context, const OomAnalysis& analysis, const Experiments& experiments);

    const AnalysisContext& context() const { return context_; }
    const OomAnalysis& analysis() const { return analysis_; }
    const Experiments& experiments() const { return experiments_; }
    const OtherEvent& oom() const { return analysis_.oom; }
    const Origin& origin() const { return context_.trace().origins[oom().origin]; }
    const StackTable& stacks() const { return context_.trace().stacks; }
    const Allocations& allocations() const { return context_.device().allocations; }

    /// Returns the allocations that existed right before the error, by age.
    const std::vector<AllocationIndex>& alive() const { return alive_; }
    int64_t bytes(AllocationIndex a) const { return static_cast<int64_t>(allocations().block_size[a]); }
    int64_t bytes(std::span<const AllocationIndex> all) const;
    int64_t in_use() const { return in_use_; }  ///< block bytes of alive()
    /// Returns the bytes that competed with the request: those in use, and those of other processes, unless the
    /// program's own limit refused it.
    int64_t competing() const;
    /// Returns the category right before the error; unknown without a graph.
    Category category(AllocationIndex a) const;
    /// Returns whether the sum of the request and the memory in use, without `freed` bytes, is below the capacity.
    /// Fragmentation is not considered.
    bool fits_without(int64_t freed) const;
    /// Returns the most bytes that the allocator can surely reserve; nothing if unknown.
    std::optional<int64_t> capacity() const;
    /// Returns the least number of equal parts of the request, and of `divided` bytes in use, of which one fits at a
    /// time; nothing if none does.
    std::optional<int64_t> parts_that_fit(int64_t divided) const;
    /// Returns the largest request that the allocator could have served: from a free gap, or with a new segment up to
    /// the capacity; nothing if the capacity is unknown.
    std::optional<int64_t> largest_servable() const;

    const RetentionAtError& retained() const { return retained_; }

    /// Returns nothing if no iteration was complete before the error.
    const std::optional<FailedIteration>& iteration() const { return iteration_; }
    const SiteSizes& sizes() const { return sizes_; }
    /// Returns SiteSizes::growing_requests().
    const std::vector<uint64_t>& growing_requests() const { return growing_requests_; }
    /// Compares the failed input with that of the last iteration that fit, and with that of the largest; nothing if
    /// they do other work.
    const std::optional<InputComparison>& with_last() const { return with_last_; }
    const std::optional<InputComparison>& with_largest() const { return with_largest_; }
    /// Returns the power of the input with which the memory of a site grows; nothing if unknown.
    std::optional<int> growth_power_of(const SiteKey& key) const;

    /// Returns the state at which the failed iteration began; 0 if there was none.
    EventNumber began() const { return iteration_ ? iteration_->first : 0; }
    Phase phase() const { return origin().phase; }
    bool is_optimizer_step() const;

private:
    const AnalysisContext& context_;
    const OomAnalysis& analysis_;
    const Experiments& experiments_;
    std::vector<AllocationIndex> alive_;
    int64_t in_use_ = 0;
    RetentionAtError retained_;
    std::optional<FailedIteration> iteration_;
    SiteSizes sizes_;
    std::vector<uint64_t> growing_requests_;
    std::optional<InputComparison> with_last_, with_largest_;
};

}  // namespace tidemark
