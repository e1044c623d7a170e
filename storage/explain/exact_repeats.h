// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Exact repeats: iterations of a loop whose single line calls a model, as in `for batch in batches: model(batch)`. No
// stack shows where such an iteration ends, but the allocations of all iterations are the same: stacks and sizes, in
// the same order.
#pragma once

#include <optional>

#include "storage/explain/main_loop.h"
#include "storage/explain/python_paths.h"

namespace tidemark {

/// Returns a loop whose iterations allocate exactly the same and return to the same level of memory, if they cover most
/// of the allocations between two states. Layers of one forward pass are no iterations: the loop over them runs within
/// the call of a module. Nor are iterations that leave memory, because layers outside of a module do, too. Visits the
/// allocations a few times.
std::optional<Loop> find_exact_repeats(const PythonPaths& paths, const DeviceHistory& device, const Curves& curves,
                                       EventNumber from, EventNumber to);

}  // namespace tidemark
