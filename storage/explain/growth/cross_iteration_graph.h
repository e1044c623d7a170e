// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One graph that spans all iterations: the path from the root passes through nodes of every earlier iteration.
#pragma once

#include <cstdint>
#include <optional>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// The link between the graphs of two consecutive iterations.
struct Link {
    NodeIndex later = no_node;    ///< created in the later iteration; its input is the output of `earlier`
    NodeIndex earlier = no_node;  ///< created in the earlier iteration
};

/// Returns a link if one root, or the roots of the newest iteration, retain the whole suspect and its nodes were
/// created in many iterations; nothing if each iteration has its own graph.
std::optional<Link> cross_iteration_link(const AnalysisContext& context, const LeakSuspect& suspect);

/// Returns the number of consecutive nodes of one type from the root downwards: the additions of `total += loss`.
int64_t chain_length_of_same_type(const GraphContext& graph, NodeIndex root);

}  // namespace tidemark
