// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/derivative_graphs.h"

#include <set>
#include <string>

namespace tidemark {

bool are_of_derivative_graphs(const GraphContext& graph, const DeviceHistory& device,
                              std::span<const Site* const> sites) {
    constexpr size_t many = 4;
    if (graph.tables().nodes_left_out == 0) {
        return false;
    }
    std::set<uint32_t> origins;
    for (const Site* site : sites) {
        for (const AllocationIndex a : site->now) {
            origins.insert(device.allocations.origin[a]);
        }
    }
    std::set<std::string> forward, backward;
    bool is_of_derivative = false;
    for (const uint32_t origin : origins) {
        const Origin& of = graph.index.trace().origins[origin];
        if (of.phase == Phase::backward) {
            backward.insert(of.op);
            is_of_derivative |= of.op.find("BackwardBackward") != std::string::npos;
        } else if (!of.op.empty()) {
            forward.insert(of.op);
        }
    }
    return is_of_derivative && forward.size() >= many && backward.size() >= many;
}

bool is_of_derivative_graphs(const AnalysisContext& context, const LeakSuspect& suspect) {
    return context.graph() && !suspect.referrer && !suspect.through_graph() &&
           are_of_derivative_graphs(*context.graph(), context.device(), suspect.sites);
}

}  // namespace tidemark
