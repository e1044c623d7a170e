// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory that graphs of derivatives retain, recognized without their nodes: the recorder counts short-lived nodes only.
#pragma once

#include <span>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// Returns whether the sites' memory that exists at the time point was allocated by many operations of forward passes
/// and by many of backward passes, some of them through an earlier backward pass. A variable refers to results of few
/// operations; the others are known only to the graph, which create_graph=True continues through the backward pass.
/// Returns false if all nodes were recorded: then the graph itself shows what it retains.
bool are_of_derivative_graphs(const GraphContext& graph, const DeviceHistory& device,
                              std::span<const Site* const> sites);
/// Returns whether that holds for a suspect without a known referrer or graph.
bool is_of_derivative_graphs(const AnalysisContext& context, const LeakSuspect& suspect);

}  // namespace tidemark
