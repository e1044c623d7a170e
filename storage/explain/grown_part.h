// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The part of a rising site's memory that has grown. The optimizer state of all parameters may come from one line, and
// only that of the parameters that were added later is growth.
#pragma once

#include <span>

#include "storage/explain/iterations.h"
#include "storage/explain/surviving_allocations.h"

namespace tidemark {

/// Of the memory made since `begin`, this share has grown.
struct GrownPart {
    EventNumber begin = before_history;
    double share = 1;
};

/// Returns whether the alive allocations come from at least three iterations.
bool is_of_many_iterations(const Site& site, const Iterations& iterations, const DeviceHistory& device);

/// Returns the part of `memory` that has grown since the iteration at position `since`: all of it unless most of it is
/// older, or is as large as memory that it replaced. `memory`: what counts of the site's.
GrownPart grown_part(const Site& site, std::span<const AllocationIndex> memory, const Iterations& iterations,
                     const DeviceHistory& device, size_t since);

}  // namespace tidemark
