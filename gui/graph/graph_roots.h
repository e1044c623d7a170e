// The roots of the graph at a moment, gathered by what they are and who holds them.
#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "storage/graph/graph_state.h"
#include "storage/graph/referrer_groups.h"

namespace tidemark::gui {

/// Roots of one type, line and holder.
struct RootGroup {
    QString type, line, module, referrer;  ///< holder: "" where nobody searched, or nobody was found
    std::vector<NodeIndex> roots;          ///< most dominated bytes first
    int64_t nodes = 0;                     ///< that they keep alive
    int64_t reachable_bytes = 0;           ///< by all these nodes
    int64_t freed_bytes = 0;               ///< would be freed if these roots went
    int32_t first_step = -1, last_step = -1;

    QString title() const;  ///< "100 × SumBackward0"
    bool matches(const QString& text) const;
};

/// Most kept bytes first. Thread: any.
std::vector<RootGroup> root_groups(const GraphIndex& index, const GraphState& time_point,
                                   const ReferrerIndex& referrers);

}  // namespace tidemark::gui
