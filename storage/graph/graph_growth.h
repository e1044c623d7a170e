// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The growth of the graph from step to step, and the graphs that were never backpropagated.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/graph/categories.h"
#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark {

/// The graph at the end of a step. Bytes are computed as in GraphState::reachable_bytes.
struct GraphSlice {
    int32_t step = -1;  ///< position in Trace::steps; -1: the program has no steps and the slice is a range of time
    int64_t start = 0, end = 0;  ///< ns since trace start
    int64_t nodes = 0, roots = 0, reachable_bytes = 0;
    int64_t older_nodes = 0;            ///< part of nodes that was created in earlier slices
    int64_t older_reachable_bytes = 0;  ///< part of reachable_bytes that belongs to such nodes
};

struct TypeGrowth {
    uint32_t type = 0;           ///< text
    std::vector<int64_t> nodes;  ///< alive at each slice's end
    int64_t growth() const { return nodes.back() - nodes.front(); }
};

struct GraphGrowth {
    std::vector<GraphSlice> slices;
    std::vector<TypeGrowth> types;  ///< most growth first; at most the 64 types with most nodes
};

/// Returns one slice per step, or 100 equal ranges of time if the program has no steps. Takes O((nodes + edges + saved
/// tensors) log slices).
GraphGrowth graph_growth(const Categories& categories);

/// Roots of one type, created at the same call site, that no backward executed.
struct NeverExecutedRoots {
    uint32_t type = 0;  ///< text
    StackId stack = 0;
    std::vector<NodeIndex> roots;             ///< by age
    Reachable reachable;                      ///< everything that they retain together
    int32_t first_step = -1, last_step = -1;  ///< of the first and last root, in Trace::steps
    const Referrer* referrer = nullptr;       ///< of the first root with a known referrer
};

/// Returns the groups, most reachable bytes first; at most the 252 groups with most roots. Ignores leaves
/// (AccumulateGrad).
std::vector<NeverExecutedRoots> roots_never_executed(const GraphState& time_point, const ReferrerIndex& referrers);

}  // namespace tidemark
