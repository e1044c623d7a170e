// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One graph that spans all iterations: from the root, its ancestors reach back from iteration to iteration.
#pragma once

#include <cstdint>
#include <optional>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// The link between the graphs of two consecutive iterations.
struct Link {
    NodeIndex later = no_node;    ///< created in the later iteration; one of its inputs is
    NodeIndex earlier = no_node;  ///< the output of this one
};

/// Returns a link if one root retains the whole suspect, created in many iterations; nothing: each iteration has a
/// graph of its own.
std::optional<Link> cross_iteration_link(const AnalysisContext& context, const LeakSuspect& suspect);

/// Returns the number of consecutive nodes of one type from the root down: the sums of `total += loss`.
int64_t chain_length_of_same_type(const GraphContext& graph, NodeIndex root);

}  // namespace tidemark
