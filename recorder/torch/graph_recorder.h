// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Records the autograd graph: when nodes are created, executed and destroyed.
//
// Every node gets a tag: a pre-hook that changes nothing. The tag knows the node's id. The engine calls it when it
// executes the node, and the node destroys it, on any thread. The tag extends the lifetime of no node, tensor or
// storage, and unpacks nothing. A node is found in the results of an op, or as an ancestor of such a node.
#pragma once

#include <torch/csrc/autograd/function.h>

#include <cstdint>

#include "recorder/torch/tensor_place.h"
#include "recorder/torch/thread_state.h"

namespace tidemark::plugin {

/// Starts or ends the recording of the graph. Nodes that exist at the start are recorded when they are first seen.
void record_graph(bool record);
bool graph_is_recorded();

/// Records a node and all nodes it leads to, each once. `output`: a tensor it made. `taken`: memory that its op
/// allocated for the tensor. Returns the node's id; 0: the graph is not recorded. The caller keeps the node alive.
uint32_t report_node(torch::autograd::Node& node, const c10::TensorImpl& output, const TensorPlace& taken);

/// Returns the node that made a tensor, or nullptr. Reads the tensor's field: its accessor could create a node.
torch::autograd::Node* node_of(const c10::TensorImpl& tensor);

/// Records that the engine executed a node on this thread. The engine has released what the node saved, unless the pass
/// keeps the graph.
void report_executed_node(const ExecutedNode& executed);

/// Counts nodes without AccumulateGrad: parameters keep those alive. `newest`: the highest id so far.
struct LiveNodes {
    uint64_t alive = 0, newest = 0;
};
LiveNodes live_nodes();

}  // namespace tidemark::plugin
