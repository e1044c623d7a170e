// Memory that grows from round to round, put together by what keeps it alive: one pile has one cause.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/explain/survivors.h"
#include "storage/graph/graph_moment.h"
#include "storage/graph/holder_groups.h"

namespace tidemark {

struct GraphCase;

/// How an allocation is kept alive.
struct Hold {
    const Holder* holder = nullptr;  ///< of the tensor, or of the root that keeps it; nullptr: none is known
    const Holder* native = nullptr;  ///< of the tensor itself, where the search found only C++: a cache, a hook
    bool through_graph = false;      ///< a node saved it
    NodeIndex keeper = no_node;      ///< that node
    NodeIndex root = no_node;        ///< first of the path down to it
    NodeState root_state = NodeState::unborn;
    NodeState keeper_state = NodeState::unborn;
};
Hold hold_of(const GraphCase& graph, AllocationRef allocation);

struct Pile {
    std::vector<const Site*> sites;  ///< that grow; most bytes per round first
    const Holder* holder = nullptr;  ///< of one allocation or root; all others' chains differ in elements or keys only
    Hold hold;                       ///< of a typical allocation
    AllocationRef example;           ///< that allocation
    uint32_t root_type = 0;          ///< text of GraphTables: type of the root; 0: not through the graph
    int64_t roots = 0;               ///< different roots that keep it
    int64_t bytes = 0, count = 0;    ///< now
    int64_t per_round = 0;           ///< bytes
    size_t since = 0;                ///< position of the round from which on it grows
    bool through_graph() const { return hold.through_graph; }
};

/// Most bytes per round first. What was searched and nobody in Python holds is one pile. Without a graph each growing
/// site is a pile of its own. `position`: of the device in
/// Trace::devices.
std::vector<Pile> find_piles(const Survivors& survivors, const Rounds& rounds, const GraphCase* graph,
                             const DeviceHistory& device, uint32_t position);

}  // namespace tidemark
