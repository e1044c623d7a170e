// Searching the graph: words that a node's type, module, line or parameter contains, and "> 1 MiB" of what it keeps.
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

/// Alive nodes that match, rising; null when cancelled. Thread: any.
std::shared_ptr<const std::vector<NodeIndex>> find_nodes(const GraphIndex& index, const GraphState& time_point,
                                                         const GraphQuery& query, const Progress& progress);

}  // namespace tidemark::gui
