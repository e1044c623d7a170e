// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The outline of a synthetic graph at the end of its trace.
#pragma once

#include "gui/graph/graph_scene.h"
#include "tests/gui/synthetic_graph.h"

namespace tidemark::gui::test {

/// The outline of everything alive at the end, and its scenes.
struct Outlined {
    explicit Outlined(const SyntheticGraph& made, GraphRegion region = {})
        : graph(made.graph),
          time_point(std::make_shared<GraphState>(graph->index, graph->categories, made.trace->duration)),
          outline(GraphOutline::make(graph->index, *time_point, region, progress)) {}

    std::shared_ptr<const GraphScene> scene(const std::vector<uint64_t>& opened,
                                            const std::vector<NodeIndex>& shown = {}) const {
        return make_scene(graph->index, *time_point, *outline, {opened, shown, {}}, {}, progress);
    }
    const OutlineGroup* find(GroupKind kind) const {
        for (const OutlineGroup& group : outline->groups()) {
            if (group.kind == kind) {
                return &group;
            }
        }
        return nullptr;
    }

    Progress progress;
    std::shared_ptr<const Graph> graph;
    std::shared_ptr<const GraphState> time_point;
    std::shared_ptr<const GraphOutline> outline;
};

}  // namespace tidemark::gui::test
