// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The modules that created the nodes of the graph, as a tree of names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/graph/graph_index.h"

namespace tidemark::gui {

using PathId = uint32_t;  ///< 0: no module

class ModulePaths {
public:
    /// Builds the paths of all origins of the trace.
    explicit ModulePaths(const Trace& trace);

    PathId of_origin(uint32_t origin) const { return origin < of_origin_.size() ? of_origin_[origin] : 0; }
    const std::string& name(PathId path) const { return names_[path]; }
    PathId parent(PathId path) const { return parents_[path]; }
    /// Returns the longest common prefix.
    PathId common(PathId a, PathId b) const;
    /// Returns the child of `above` on the way to `path`, which lies below it.
    PathId child_toward(PathId path, PathId above) const;
    /// Returns the names from `above` down to `path`, joined: "h.0.attn".
    std::string relative(PathId path, PathId above) const;
    /// Returns a hash that is equal for paths with the same names from `above` down.
    uint64_t relative_hash(PathId path, PathId above) const;

private:
    PathId child(PathId parent, const std::string& name);

    std::vector<PathId> of_origin_;
    std::vector<PathId> parents_{0};
    std::vector<uint32_t> depth_{0};
    std::vector<std::string> names_{""};
    std::unordered_map<std::string, PathId> children_;  ///< by parent and name
};

}  // namespace tidemark::gui
