// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Traces with an autograd graph made in memory, for tests that check every node.
#pragma once

#include <memory>

#include "gui/model/session.h"

namespace tidemark::gui::test {

struct SyntheticGraph {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const Graph> graph;
    std::shared_ptr<Session> session() const;  ///< a new session with the graph and its cursor at the end
};

/// A GPT with `layers` blocks: `steps` training steps, the last of which has not run its backward. Its modules are
/// GPT.transformer.wte, .wpe, .h.0 ..., .ln_f and GPT.lm_head; about 40 nodes a block without and 52 with parameters.
SyntheticGraph transformer_graph(int layers = 12, int steps = 3);

/// A loop that retains its outputs: `count` graphs of five nodes each and four shared parameters, without modules; the
/// list `outputs` of main retains the roots, which the heap scan at the end found. One step per graph.
SyntheticGraph retained_outputs_graph(int count = 100);

/// One chain of `count` nodes from different lines, so that nothing repeats.
SyntheticGraph chain_graph(int count);

/// Nodes that are destroyed before the end.
SyntheticGraph finished_graph();

}  // namespace tidemark::gui::test
