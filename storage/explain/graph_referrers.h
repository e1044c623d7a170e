// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Several containers of a program that retain the same graphs: a fix must change all of them.
#pragma once

#include <vector>

#include "storage/explain/leak_suspects.h"

namespace tidemark {

/// Returns a path to each other container that retains the node to which the suspect's path leads through the graph, as
/// heap scans found them. Variables that are no containers count for one iteration only. Requires a suspect with a
/// referrer.
std::vector<const Referrer*> other_containers_of_graph(const GraphContext& graph, const LeakSuspect& suspect);

}  // namespace tidemark
