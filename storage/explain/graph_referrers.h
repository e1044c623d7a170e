// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Several containers of a program that retain the same graphs: a fix must change all of them.
#pragma once

#include <vector>

#include "storage/explain/leak_suspects.h"

namespace tidemark {

/// Returns a path to each other container that retains the suspect's example through the graph, as heap scans found
/// them. Variables that are no containers retain one iteration only, and are omitted. Returns nothing for a suspect
/// without a referrer.
std::vector<const Referrer*> other_containers_of_graph(const GraphContext& graph, const LeakSuspect& suspect);

}  // namespace tidemark
