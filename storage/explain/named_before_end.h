// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Names for memory that the heap scan at the end found in a reference cycle, because the functions with the variables
// had returned then.
#pragma once

#include <cstdint>

#include "storage/explain/surviving_allocations.h"
#include "storage/trace/graph_tables.h"

namespace tidemark {

struct GraphContext;

/// Returns a path from a variable that an earlier scan found to other memory of the site, into the same container or
/// along the same objects, or else the only path into such an attribute of such an object. The program may have freed
/// the memory of such a path since. Returns nullptr if there is none, or if an earlier scan found memory of the site in
/// a cycle. `cycle`: the path that the scan at the end found.
const Referrer* named_before_end(const GraphContext& graph, const Site& site, uint32_t device, const Referrer& cycle);

}  // namespace tidemark
