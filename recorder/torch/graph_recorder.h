// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Records the autograd graph: when nodes are created, executed and destroyed.
//
// Every node gets a tag: a pre-hook that changes nothing and stores the node's id. The engine calls the tag when it
// executes the node, and the node destroys the tag, on any thread. The tag retains no node, tensor or storage, and
// unpacks nothing. A node is found in the results of an op, or as an ancestor of such a node.
#pragma once

#include <torch/csrc/autograd/function.h>

#include <cstdint>

#include "recorder/torch/tensor_place.h"
#include "recorder/torch/thread_state.h"

namespace tidemark::plugin {

/// Starts or ends the recording of the graph. Nodes that exist at the start are recorded when they are first seen.
void record_graph(bool record);
bool graph_is_recorded();

/// Records a node and all nodes that it leads to, each once. `output`: a tensor that the node created. `allocated`: the
/// memory that its op allocated for the tensor. Returns the node's id; 0: the graph is not recorded. The caller retains
/// the node during the call.
uint32_t report_node(torch::autograd::Node& node, const c10::TensorImpl& output, const TensorPlace& allocated);

/// Returns the node that created a tensor, or nullptr. Reads the tensor's field, because its accessor may create a
/// node.
torch::autograd::Node* node_of(const c10::TensorImpl& tensor);

/// Records that the engine executed a node, on any thread, in the ring of the calling one. Unless the pass retains the
/// graph, the engine has released the node's saved tensors.
void report_executed_node(const ExecutedNode& executed, tidemark_ring* ring);

/// Numbers of live nodes. Excludes AccumulateGrad, which parameters retain. `newest`: the highest id so far.
struct LiveNodes {
    uint64_t alive = 0, newest = 0;
};
LiveNodes live_nodes();

}  // namespace tidemark::plugin
