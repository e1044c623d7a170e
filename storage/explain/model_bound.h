// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What parameters get once they are trained: one gradient, and one tensor of each kind of optimizer state. A program
// that unfreezes its layers one after the other makes this memory in stages, up to the last parameter. It has an end
// unless parameters are added.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// Immutable; keeps a reference to the graph. Thread: any.
class ModelBound {
public:
    /// Visits the allocations once. `position`: of the device in Trace::devices. `now`: the context's time point.
    ModelBound(const GraphContext& graph, uint32_t position, EventNumber now);

    /// Returns whether all memory that was made since the state `begin` is gradients and optimizer state of parameters
    /// that existed before, at most one of a kind for each. Workspaces do not count.
    bool covers(std::span<const AllocationIndex> memory, EventNumber begin) const;
    /// Returns whether the memory made since `begin` is a copy of the parameters that were first trained since then:
    /// in each iteration as many blocks of the same sizes as the optimizer state of one kind that covers() holds for.
    bool has_copies(std::span<const AllocationIndex> memory, EventNumber begin, const Iterations& iterations) const;

private:
    /// Returns the allocations, by age, that were made since `begin`.
    std::vector<AllocationIndex> made_since(std::span<const AllocationIndex> memory, EventNumber begin) const;
    bool covers(AllocationIndex a, EventNumber begin) const;

    const GraphContext& graph_;
    const DeviceHistory& device_;
    uint32_t position_;
    std::map<std::string, std::vector<EventNumber>, std::less<>> parameters_;  ///< alloc events by name, sorted
    std::map<std::string, int64_t> count_;                                     ///< of gradients and state, by label
    std::map<std::string, std::vector<AllocationIndex>> states_;               ///< by kind: "exp_avg"
};

}  // namespace tidemark
