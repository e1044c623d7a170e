// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The autograd graph of a forward pass that no backward pass follows, as in an evaluation without torch.no_grad().
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "storage/explain/oom/oom_case.h"

namespace tidemark {

struct UnusedGraph {
    FrameId caller = 0;  ///< the function that called the pass and never a backward pass; 0: no backward pass ever ran
    /// Memory that only the graph retains, and the states after which it would have been free without a graph.
    std::vector<std::pair<AllocationIndex, EventNumber>> retained;
    int64_t bytes = 0;
};

/// Returns nothing if the forward pass may belong to training: a backward pass began in all functions that called it.
std::optional<UnusedGraph> find_unused_graph(const OomCase& oom);

}  // namespace tidemark
