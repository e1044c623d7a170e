// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/model_bound.h"

#include <algorithm>
#include <utility>

namespace tidemark {
namespace {

/// The size of a block that an iteration made.
using MadeBlock = std::pair<int64_t, uint64_t>;

std::vector<MadeBlock> blocks_by_iteration(std::span<const AllocationIndex> memory, const Allocations& allocations,
                                           const Iterations& iterations) {
    std::vector<MadeBlock> blocks;
    blocks.reserve(memory.size());
    for (const AllocationIndex a : memory) {
        blocks.emplace_back(iterations.at(allocations.alloc_event[a]), allocations.requested[a]);
    }
    std::sort(blocks.begin(), blocks.end());
    return blocks;
}

}  // namespace

ModelBound::ModelBound(const GraphContext& graph, uint32_t position, EventNumber now)
    : graph_(graph), device_(graph.index.trace().devices[position]), position_(position) {
    const Allocations& allocations = device_.allocations;
    for (AllocationIndex a = 0; a < allocations.size() && allocations.alloc_event[a] < now; ++a) {
        if (allocations.free_event[a] < now) {
            continue;
        }
        const std::string& name = graph.categories.name({position, a});
        switch (graph.categories.at({position, a}, graph.state.time())) {
            case Category::parameter:
                parameters_[std::string(labeled_tensor(name))].push_back(allocations.alloc_event[a]);
                break;
            case Category::optimizer_state:
                states_[std::string(parts_of_label(name).state)].push_back(a);
                [[fallthrough]];
            case Category::gradient: ++count_[name]; break;
            default: break;
        }
    }
}

std::vector<AllocationIndex> ModelBound::made_since(std::span<const AllocationIndex> memory, EventNumber begin) const {
    const auto& made = device_.allocations.alloc_event;
    const auto first =
        std::partition_point(memory.begin(), memory.end(), [&](AllocationIndex a) { return made[a] < begin; });
    return {first, memory.end()};
}

bool ModelBound::covers(AllocationIndex a, EventNumber begin) const {
    const std::string& name = graph_.categories.name({position_, a});
    const auto count = count_.find(name);
    const auto parameters = parameters_.find(labeled_tensor(name));
    if (name.empty() || count == count_.end() || parameters == parameters_.end()) {
        return false;
    }
    const auto& made = parameters->second;
    return count->second <= std::lower_bound(made.begin(), made.end(), begin) - made.begin();
}

bool ModelBound::covers(std::span<const AllocationIndex> memory, EventNumber begin) const {
    const std::vector<AllocationIndex> made = made_since(memory, begin);
    return !made.empty() && std::all_of(made.begin(), made.end(), [&](AllocationIndex a) {
        switch (graph_.categories.at({position_, a}, graph_.state.time())) {
            case Category::workspace: return true;
            case Category::gradient:
            case Category::optimizer_state: return covers(a, begin);
            default: return false;
        }
    });
}

bool ModelBound::has_copies(std::span<const AllocationIndex> memory, EventNumber begin,
                            const Iterations& iterations) const {
    const auto blocks_of = [&](std::span<const AllocationIndex> of) {
        return blocks_by_iteration(made_since(of, begin), device_.allocations, iterations);
    };
    const std::vector<MadeBlock> copies = blocks_of(memory);
    return !copies.empty() && std::any_of(states_.begin(), states_.end(), [&](const auto& kind) {
        return covers(kind.second, begin) && blocks_of(kind.second) == copies;
    });
}

}  // namespace tidemark
