// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/executed_graphs.h"

#include <algorithm>

namespace tidemark {

std::vector<bool> leads_to_executed(const GraphIndex& graph) {
    const GraphNodes& nodes = graph.tables().nodes;
    std::vector<bool> leads(nodes.size(), false);
    for (NodeIndex node = 0; node < nodes.size(); ++node) {  // a node is created after its children
        const auto children = graph.children(node);
        leads[node] = std::any_of(children.begin(), children.end(), [&](NodeIndex child) {
            return leads[child] || (!graph.is_leaf(child) && nodes.executed[child] != never_happened);
        });
    }
    return leads;
}

}  // namespace tidemark
