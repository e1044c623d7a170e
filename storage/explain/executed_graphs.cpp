// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/executed_graphs.h"

namespace tidemark {

std::vector<bool> leads_to_executed(const GraphIndex& graph) {
    const GraphNodes& nodes = graph.tables().nodes;
    std::vector<NodeIndex> open;
    for (NodeIndex node = 0; node < nodes.size(); ++node) {
        if (nodes.executed[node] != never_happened && !graph.is_leaf(node)) {
            open.push_back(node);
        }
    }
    std::vector<bool> leads(nodes.size(), false);
    while (!open.empty()) {
        const NodeIndex node = open.back();
        open.pop_back();
        for (const NodeIndex parent : graph.parents(node)) {
            if (!leads[parent]) {
                leads[parent] = true;
                open.push_back(parent);
            }
        }
    }
    return leads;
}

}  // namespace tidemark
