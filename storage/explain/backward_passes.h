// Backward passes as the graph tells them: where each began, which forward it belongs to, and the gradients it made.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// One call of backward(). States of the device.
struct BackwardPass {
    NodeIndex root = no_node;  ///< where it began
    std::vector<NodeIndex> nodes;
    EventNumber forward = 0;   ///< before the first op of its graph took memory
    EventNumber backward = 0;  ///< the root was run
    EventNumber end = 0;       ///< the last node was run
};

/// Memory of a leaf's .grad.
struct Gradient {
    AllocationIndex allocation = no_allocation;
    size_t first = 0;  ///< position in BackwardPassGroup::passes: the pass that made it
    size_t last = 0;   ///< the last pass that began while it was allocated
    size_t passes() const { return last - first + 1; }
};

/// All passes that began at the same line of the program.
struct BackwardPassGroup {
    FrameId line = 0;
    StackId stack = 0;                 ///< of the first root's forward op
    std::vector<BackwardPass> passes;  ///< by time
    std::vector<Gradient> gradients;   ///< by age
};

/// Groups of passes, by first pass. Empty without a graph. Of runs whose graph was recorded in part only, those passes
/// of which all is known.
std::vector<BackwardPassGroup> find_backward_passes(const AnalysisContext& context);

/// How many passes of the group lie between two updates of the parameters by an optimizer; 0: it never updated them.
size_t passes_per_update(const AnalysisContext& context, const BackwardPassGroup& group);

/// What a tensor that is no leaf keeps because of retain_grad(): a clone that its node makes in the backward pass.
bool is_retained_gradient(const AnalysisContext& context, AllocationIndex allocation);

/// Block bytes of the group's gradients that are allocated at this state.
int64_t gradient_bytes(const AnalysisContext& context, const BackwardPassGroup& group, EventNumber state);
/// What the forward of a pass has added when its backward begins.
int64_t activation_bytes(const AnalysisContext& context, const BackwardPass& pass);

}  // namespace tidemark
