// Memory that grows from round to round, put together by what keeps it alive: one pile has one cause.
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

/// How an allocation is kept alive.
struct Retention {
    const Referrer* referrer = nullptr;  ///< of the tensor, or of the root that keeps it; nullptr: none is known
    const Referrer* native = nullptr;    ///< of the tensor itself, where the search found only C++: a cache, a hook
    bool through_graph = false;          ///< a node saved it
    NodeIndex retainer = no_node;        ///< that node
    NodeIndex root = no_node;            ///< first of the path down to it
    NodeState root_state = NodeState::not_created;
    NodeState retainer_state = NodeState::not_created;
};
Retention retention_of(const GraphContext& graph, AllocationRef allocation);

struct LeakSuspect {
    std::vector<const Site*> sites;  ///< that grow; most bytes per round first
    const Referrer* referrer =
        nullptr;                   ///< of one allocation or root; all others' chains differ in elements or keys only
    Retention retention;           ///< of a typical allocation
    AllocationRef example;         ///< that allocation
    uint32_t root_type = 0;        ///< text of GraphTables: type of the root; 0: not through the graph
    int64_t roots = 0;             ///< different roots that keep it
    int64_t bytes = 0, count = 0;  ///< now
    int64_t per_iteration = 0;     ///< bytes
    size_t since = 0;              ///< position of the round from which on it grows
    bool through_graph() const { return retention.through_graph; }
};

/// Most bytes per round first. What was searched and nobody in Python holds is one pile. Without a graph each growing
/// site is a pile of its own. `position`: of the device in
/// Trace::devices.
std::vector<LeakSuspect> find_suspects(const SurvivingAllocations& surviving_allocations, const Iterations& iterations,
                                       const GraphContext* graph, const DeviceHistory& device, uint32_t position);

}  // namespace tidemark
