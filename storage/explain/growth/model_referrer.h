// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What retains a model, or many models of one class.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "storage/explain/analysis_context.h"

namespace tidemark {

/// Returns the number of links up to what refers to the model; all links if the path does not lead through it.
size_t links_to_model(const GraphTables& tables, const std::vector<PathLink>& links, const std::string& model);

/// Returns the number of links up to an optimizer of this class ("": of any), whose state or parameters the path leads
/// to; nothing if it leads through none.
std::optional<size_t> links_to_optimizer(const GraphTables& tables, const std::vector<PathLink>& links,
                                         const std::string& name);

/// Returns the shortest path up to a model of this class by which a scan found one of these tensors. Needs a graph.
std::optional<Referrer> path_to_model(const AnalysisContext& context, std::span<const AllocationIndex> tensors,
                                      const std::string& model);

/// Returns a path to one of the models, by the variable, container or kind of cycle that retains most of them. Paths
/// that lead through the model come first. A variable of a running function refers to one of many models, so it retains
/// not even half of those that the scans found: nullptr if everything that was found retains so few. Needs a graph.
const Referrer* referrer_of_models(const AnalysisContext& context, const LeakSuspect& suspect,
                                   const std::string& model);

}  // namespace tidemark
