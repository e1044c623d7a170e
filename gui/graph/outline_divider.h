// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Divides a part of the graph into groups: graphs by their roots, modules by their path, repeated chains.
#pragma once

#include <map>
#include <span>

#include "gui/graph/graph_region.h"
#include "gui/graph/module_paths.h"
#include "gui/graph/outline_part.h"
#include "gui/graph/repeated_runs.h"
#include "storage/base/progress.h"

namespace tidemark::gui {

/// Refers to the graph and the progress for its lifetime. Thread: any.
class OutlineDivider {
public:
    OutlineDivider(const GraphIndex& index, const GraphState& time_point, const GraphRegion& region,
                   const Progress& progress);

    /// Returns the whole region, divided. Canceled work returns an incomplete division.
    Part divide();

private:
    struct Module {
        PathId path;
        std::string name;
        std::vector<NodeIndex> nodes;
    };
    FrameId line(NodeIndex node) const;
    void find_paths();
    std::vector<NodeIndex> owners(const std::vector<NodeIndex>& nodes) const;
    void divide_by_roots(Part& whole);
    void add_graphs(Part& whole, FrameId line, const std::vector<NodeIndex>& roots,
                    std::map<NodeIndex, std::vector<NodeIndex>>& graphs);
    static void add_part(Part& parent, Part part);
    void add_shared(Part& whole, std::vector<NodeIndex> shared);
    void divide_by_modules(Part& part, PathId at);
    void add_modules(Part& part, std::vector<Module>& modules);
    void add_repeat(Part& part, std::span<Module> modules);
    static Part unwrapped(Part outer);
    uint64_t shape_of(const Module& module) const;
    void add_direct_nodes(Part& part, std::vector<NodeIndex> nodes);
    void add_run(const Part& part, std::vector<Part>& pieces, std::span<const NodeIndex> nodes, const Run& run);
    void add_lines(const Part& part, std::vector<Part>& pieces, std::span<const NodeIndex> nodes);
    void add_parameters(Part& part, std::vector<Part>& pieces, std::span<const NodeIndex> parameters);
    std::string types_text(std::span<const NodeIndex> nodes) const;

    const GraphIndex& index_;
    const GraphTables& tables_;
    const StackTable& stacks_;
    const Progress& progress_;
    const ModulePaths paths_;
    Part whole_;
    std::vector<bool> inside_;
    std::vector<PathId> path_;
};

}  // namespace tidemark::gui
