// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Search in the graph: words in a node's type, module, line or parameter, and "> 1 MiB" for its shallow size.
#pragma once

#include <QStringList>
#include <memory>
#include <vector>

#include "gui/graph/graph_roots.h"
#include "storage/base/progress.h"

namespace tidemark::gui {

struct GraphQuery {
    QStringList words;   ///< all of them must match
    int64_t above = -1;  ///< bytes; -1: any
    bool empty() const { return words.isEmpty() && above < 0; }
    bool matches(const RootGroup& group) const;
};

/// "addmm > 1 MiB"
GraphQuery parse_graph_query(const QString& text);

/// Returns the alive nodes that match in ascending order; null if canceled. Thread: any.
std::shared_ptr<const std::vector<NodeIndex>> find_nodes(const GraphIndex& index, const GraphState& time_point,
                                                         const GraphQuery& query, const Progress& progress);

}  // namespace tidemark::gui
