// One graph that runs through all rounds: a root whose ancestors reach back from round to round.
#pragma once

#include <cstdint>
#include <optional>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// Where a graph of one round goes over into that of the round before.
struct Link {
    NodeIndex later = no_node;    ///< made in the later round; one of its inputs is
    NodeIndex earlier = no_node;  ///< the output of this one
};

/// One root keeps everything the pile consists of, made in many rounds; nothing: each round has a graph of its own.
std::optional<Link> cross_iteration_link(const AnalysisContext& context, const LeakSuspect& suspect);

/// Nodes of one type in a row, from the root down: the sums of `total += loss`.
int64_t chain_length_of_same_type(const GraphContext& graph, NodeIndex root);

}  // namespace tidemark
