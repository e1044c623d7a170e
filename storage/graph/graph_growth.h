// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// How the graph grows from step to step, and which graphs were never backpropagated.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/graph/categories.h"
#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark {

/// The graph at the end of a step. Bytes as GraphState::reachable_bytes.
struct GraphSlice {
    int32_t step = -1;           ///< position in Trace::steps; -1: the program has no steps, this is a range of time
    int64_t start = 0, end = 0;  ///< ns since trace start
    int64_t nodes = 0, roots = 0, reachable_bytes = 0;
    int64_t older_nodes = 0;            ///< of nodes: made in earlier slices
    int64_t older_reachable_bytes = 0;  ///< of reachable_bytes: of such nodes
};

struct TypeGrowth {
    uint32_t type = 0;           ///< text
    std::vector<int64_t> nodes;  ///< alive at each slice's end
    int64_t growth() const { return nodes.back() - nodes.front(); }
};

struct GraphGrowth {
    std::vector<GraphSlice> slices;
    std::vector<TypeGrowth> types;  ///< most growth first; of more than 64 types those with most nodes
};

/// One slice per step; where the program has no steps, 100 equal ranges of time. In
/// O((nodes + edges + saved tensors) log slices).
GraphGrowth graph_growth(const Categories& categories);

/// Roots of one type, created at the same place, that no backward executed.
struct PendingRoots {
    uint32_t type = 0;  ///< text
    StackId stack = 0;
    std::vector<NodeIndex> roots;             ///< by age
    Reachable kept;                           ///< what they keep alive together
    int32_t first_step = -1, last_step = -1;  ///< positions in Trace::steps: when the first and last of them was made
    const Referrer* referrer = nullptr;       ///< of the first of them that has a known one
};

/// Most reachable bytes first; of more than 252 groups those with most roots. Leaves (AccumulateGrad) are none.
std::vector<PendingRoots> roots_never_run(const GraphState& time_point, const ReferrerIndex& referrers);

}  // namespace tidemark
