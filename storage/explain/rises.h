// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Growth that happens once in many iterations: at the end of an epoch, in each evaluation, when a client reconnects.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "storage/explain/iterations.h"

namespace tidemark {

struct Site;

/// Rises of about equal size, with iterations without growth between them.
struct Rises {
    int64_t count = 0;
    int64_t bytes = 0;  ///< median of one rise
    int64_t every = 0;  ///< iterations from one rise to the next, mean; at least 2
};

/// Returns the rises of the sites' memory from the iteration `since` on; nothing if it grows evenly or by very
/// different amounts, or if the sites do not list all their allocations.
std::optional<Rises> find_rises(std::span<const Site* const> sites, const Iterations& iterations,
                                const DeviceHistory& device, size_t since);

/// Returns whether the sites' memory came in two to four rises, and most iterations between them added nothing: data
/// that the program loads in stages rises in the same way.
bool rises_seldom(std::span<const Site* const> sites, const Iterations& iterations, const DeviceHistory& device,
                  size_t since);

}  // namespace tidemark
