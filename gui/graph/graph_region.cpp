// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/graph_region.h"

#include <algorithm>

namespace tidemark::gui {

namespace {

/// Visits nodes at most `reach` edges away, breadth first; along the gradients only, or in both directions.
std::vector<NodeIndex> reachable(const GraphIndex& index, const GraphState& time_point, NodeIndex from, int reach,
                                 bool both_ways) {
    std::vector<NodeIndex> found;
    std::vector<bool> seen(index.tables().nodes.size());
    const auto visit = [&](NodeIndex node) {
        if (!seen[node] && time_point.is_alive(node)) {
            seen[node] = true;
            found.push_back(node);
        }
    };
    if (from < seen.size()) {
        visit(from);
    }
    size_t ring = 0;
    for (int distance = 0; distance < reach && ring < found.size(); ++distance) {
        for (const size_t end = found.size(); ring < end; ++ring) {
            const NodeIndex node = found[ring];
            for (const NodeIndex child : index.children(node)) {
                visit(child);
            }
            if (both_ways) {
                for (const NodeIndex parent : index.parents(node)) {
                    visit(parent);
                }
            }
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

std::vector<NodeIndex> nodes_of(const GraphRegion& region, const GraphIndex& index, const GraphState& time_point) {
    if (region.kind == GraphRegion::Kind::reachable_from) {
        return reachable(index, time_point, region.node, INT32_MAX, false);
    }
    if (region.kind == GraphRegion::Kind::around) {
        return reachable(index, time_point, region.node, region.reach, true);
    }
    std::vector<NodeIndex> nodes;
    for (NodeIndex node = 0; node < index.tables().nodes.size(); ++node) {
        if (time_point.is_alive(node) &&
            (region.kind == GraphRegion::Kind::alive || index.step_of(node) == region.step)) {
            nodes.push_back(node);
        }
    }
    return nodes;
}

}  // namespace tidemark::gui
