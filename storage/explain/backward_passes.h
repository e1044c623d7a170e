// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Backward passes, reconstructed from the graph: the root of each, its forward pass, and the gradients it allocated.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// One call of backward(). The event numbers are states of the device.
struct BackwardPass {
    NodeIndex root = no_node;  ///< the node where it began
    std::vector<NodeIndex> nodes;
    EventNumber forward = 0;   ///< before the first op of its graph allocated memory
    EventNumber backward = 0;  ///< when the root was executed
    EventNumber end = 0;       ///< when the last node was executed
};

/// The memory of a leaf's .grad.
struct Gradient {
    AllocationIndex allocation = no_allocation;
    size_t first = 0;  ///< position in BackwardPassGroup::passes of the pass that allocated it
    size_t last = 0;   ///< position of the last pass that began while it was allocated
    size_t passes() const { return last - first + 1; }
};

/// All backward passes that began at the same line of the program.
struct BackwardPassGroup {
    FrameId line = 0;
    StackId stack = 0;                 ///< of the first root's forward op
    std::vector<BackwardPass> passes;  ///< by time
    std::vector<Gradient> gradients;   ///< by age
};

/// Returns the groups, sorted by their first pass; empty without a graph. If only a part of the graph was recorded,
/// returns only the passes that were recorded completely.
std::vector<BackwardPassGroup> find_backward_passes(const AnalysisContext& context);

/// Returns how many passes of the group run between two optimizer updates; 0: no optimizer updated the parameters.
size_t passes_per_update(const AnalysisContext& context, const BackwardPassGroup& group);

/// Returns whether retain_grad() retains this allocation: a clone that a non-leaf node creates in the backward pass.
bool is_retained_gradient(const AnalysisContext& context, AllocationIndex allocation);

/// Returns the group's gradients that are allocated at this state.
std::vector<AllocationIndex> gradients_at(const AnalysisContext& context, const BackwardPassGroup& group,
                                          EventNumber state);
/// Returns the bytes of their blocks.
int64_t gradient_bytes(const AnalysisContext& context, const BackwardPassGroup& group, EventNumber state);
/// Returns the bytes that the forward pass had added when its backward began.
int64_t activation_bytes(const AnalysisContext& context, const BackwardPass& pass);

}  // namespace tidemark
