// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Referrers of nodes below the root of a graph.
//
// Variables whose values the program updates: a running sum, a velocity, a hidden state. A heap scan found the variable
// while it referred to the root of the graph. Later updates add new roots above it, which no scan saw: nodes that the
// same call made from the earlier ones.
//
// Elements of containers: a list of the outputs that the program joins into one.
#pragma once

#include <vector>

#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark {

/// Keeps references to the state and to its index. Immutable. Thread: any.
class EarlierRoots {
public:
    /// Takes time in proportion to the nodes and edges, but only if a scan found such a referrer.
    explicit EarlierRoots(const GraphState& state);

    /// Returns a Python referrer of the node, or of a node that retains it, which was a root at its heap scan and is
    /// none at the state's time, or is a later value of the same variable. Otherwise returns that of the nearest node
    /// above which is an element of a container; nullptr if there is none.
    const Referrer* referrer_above(NodeIndex node) const;

private:
    /// By node: position in GraphTables::referrers plus 1; 0: none. May be empty.
    using ByNode = std::vector<uint32_t>;

    void add_later_values(const GraphState& state);
    static void pass_down(ByNode& referrers, const GraphState& state);

    const GraphTables& tables_;
    ByNode of_roots_;
    ByNode of_elements_;
};

}  // namespace tidemark
