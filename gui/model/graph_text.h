// Nodes of the graph and who holds them, in words.
#pragma once

#include <QString>

#include "storage/graph/graph_index.h"

namespace tidemark::gui {

/// "AddmmBackward0"; of a parameter's AccumulateGrad the parameter's name, if it is known.
QString node_text(const GraphIndex& index, NodeIndex node);
/// "AddmmBackward0 of Net.fc1"
QString node_of_module_text(const GraphIndex& index, NodeIndex node);
/// "train.py:33", or "" without a stack.
QString line_text(const GraphIndex& index, NodeIndex node);
/// "step 17", "steps 3 to 17", or "".
QString steps_text(const Trace& trace, int32_t first, int32_t last);
/// "waiting for backward", "kept by retain_graph", "released"
QString state_text(NodeState state);
/// What the state of a node means, as a sentence.
QString state_sentence(NodeState state);

/// "1,482 nodes"
QString nodes_text(int64_t count);

/// "variable outputs of main, s01.py:31 → element 17"
QString referrer_text(const GraphTables& tables, const Referrer& referrer);
/// Its first link only: what a person would call the holder.
QString referrer_name(const GraphTables& tables, const Referrer& referrer);

}  // namespace tidemark::gui
