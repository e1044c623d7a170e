// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Variables whose values the program updates: a running sum, a velocity, a hidden state. A heap scan found the variable
// while it referred to the root of the graph. Later updates add new roots above it, which no scan saw: nodes that the
// same call made from the earlier ones.
#pragma once

#include <vector>

#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark {

/// Keeps references to the state and to its index. Immutable. Thread: any.
class EarlierRoots {
public:
    /// Takes time in proportion to the nodes and edges, but only if a scan found a variable of an earlier root.
    explicit EarlierRoots(const GraphState& state);

    /// Returns a Python referrer of the node, or of a node that retains it, which was a root at its heap scan and is
    /// none at the state's time, or is a later value of the same variable; nullptr if there is none.
    const Referrer* referrer_above(NodeIndex node) const;

private:
    void add_later_values(const GraphState& state);

    const GraphTables& tables_;
    std::vector<uint32_t> referrer_;  ///< by node: position in GraphTables::referrers plus 1; 0: none. May be empty
};

}  // namespace tidemark
