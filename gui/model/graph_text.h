// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The words for nodes of the graph and their referrers.
#pragma once

#include <QString>

#include "storage/graph/graph_index.h"

namespace tidemark::gui {

/// Returns "AddmmBackward0"; for a parameter's AccumulateGrad the parameter's name, if known.
QString node_text(const GraphIndex& index, NodeIndex node);
/// Returns "AddmmBackward0 of Net.fc1".
QString node_of_module_text(const GraphIndex& index, NodeIndex node);
/// Returns "train.py:33", or "" without a stack.
QString line_text(const GraphIndex& index, NodeIndex node);
/// Returns "step 17", "steps 3 to 17", or "".
QString steps_text(const Trace& trace, int32_t first, int32_t last);
/// Returns "not backpropagated", "released", ...
QString state_text(NodeState state);
/// Returns the same of a node at a time: "not backpropagated yet", "never backpropagated".
QString state_text(const GraphIndex& index, NodeIndex node, int64_t time);
/// Returns the meaning of a node's state as a sentence.
QString state_sentence(const GraphIndex& index, NodeIndex node, int64_t time);

/// Returns "1,482 nodes".
QString nodes_text(int64_t count);

/// Returns "variable outputs of main, s01.py:31 → element 17".
QString referrer_text(const GraphTables& tables, const Referrer& referrer);
/// Returns the text of the first link only: the name of the referrer.
QString referrer_name(const GraphTables& tables, const Referrer& referrer);

}  // namespace tidemark::gui
