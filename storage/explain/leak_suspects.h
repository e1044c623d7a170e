// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Leak suspects: memory that grows from iteration to iteration, grouped by what retains it. Each suspect has one cause.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/explain/surviving_allocations.h"
#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark {

struct GraphContext;

/// How an allocation is retained.
struct Retention {
    const Referrer* referrer = nullptr;  ///< of the tensor, or of the root that retains it; nullptr: unknown
    const Referrer* native = nullptr;    ///< of the tensor, if only C++ refers to it: a cache, a hook
    bool through_graph = false;          ///< whether a node saved it
    NodeIndex retainer = no_node;        ///< that node
    NodeIndex root = no_node;            ///< the first node of the path to the retainer
    NodeState root_state = NodeState::not_created;
    NodeState retainer_state = NodeState::not_created;
};
Retention retention_of(const GraphContext& graph, AllocationRef allocation);

struct LeakSuspect {
    std::vector<const Site*> sites;      ///< growing sites; most bytes per iteration first
    const Referrer* referrer = nullptr;  ///< of one allocation or root; the other paths differ only in elements or keys
    Retention retention;                 ///< of a typical allocation
    AllocationRef example;               ///< that allocation
    uint32_t root_type = 0;        ///< position in GraphTables::texts of the root's type; 0: not through the graph
    int64_t roots = 0;             ///< number of distinct roots that retain the suspect
    int64_t bytes = 0, count = 0;  ///< at the context's time point
    int64_t per_iteration = 0;     ///< bytes
    size_t since = 0;              ///< position of the first iteration of the growth
    bool through_graph() const { return retention.through_graph; }
};

/// Returns the leak suspects, most bytes per iteration first. Allocations without a referrer in Python form one
/// suspect. Without a graph, each growing site is a suspect. `position`: of the device in Trace::devices.
std::vector<LeakSuspect> find_suspects(const SurvivingAllocations& surviving_allocations, const Iterations& iterations,
                                       const GraphContext* graph, const DeviceHistory& device, uint32_t position);

}  // namespace tidemark
