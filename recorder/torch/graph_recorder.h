// Tells the autograd graph to the recorder as it is made, run and destroyed.
//
// Every node is given a tag: a pre-hook that changes nothing. It knows the node's number, hears when the engine runs
// the node, and dies with it, on whatever thread that is. No node, tensor or storage lives longer through it, and nothing
// is unpacked. A node is found as what an op returned, or as an ancestor of such a node.
#pragma once

#include <torch/csrc/autograd/function.h>

#include <cstdint>

#include "recorder/torch/tensor_place.h"
#include "recorder/torch/thread_state.h"

namespace tidemark::plugin {

/// Begins or ends; nodes tagged in between go on being followed, others were made before anybody looked.
void follow_graph(bool follow);
bool graph_is_followed();

/// Tells a node and all it leads to, as far as that was not told. `output`: a tensor it made; `taken`: memory that its op
/// took for that. Returns its number; 0: not followed. The caller keeps the node alive.
uint32_t report_node(torch::autograd::Node& node, const c10::TensorImpl& output, const TensorPlace& taken);

/// The node that made a tensor, as the tensor remembers it (asking could make a new one); nullptr: none.
torch::autograd::Node* node_of(const c10::TensorImpl& tensor);

/// The engine is done with a node on this thread, and has released what it saved unless the pass keeps the graph.
void report_node_ran(const RanNode& ran);

/// AccumulateGrad nodes are not counted among those alive: parameters keep them.
struct LiveNodes {
    uint64_t alive = 0, newest = 0;
};
LiveNodes live_nodes();

}  // namespace tidemark::plugin
