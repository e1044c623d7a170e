// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Growth that happens once in many iterations: at the end of an epoch, in each evaluation, when a client reconnects.
#pragma once

#include <cstdint>
#include <map>
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

/// Returns the rises of memory that remains, by the position of the iteration that added it.
std::optional<Rises> find_rises(const std::map<int64_t, int64_t>& remaining);

/// How surely growth goes on.
enum class Pace : uint8_t {
    steady,  ///< all parts of the run added to what remains
    seldom,  ///< it came in two to four rises with nothing between them: data that is loaded in stages does, too
    uneven,  ///< some part of the run added little of what remains: a cache that replaces its content does, too
};

/// Returns the pace of the sites' growth from the iteration `since` on; `steady` if the sites do not list all their
/// allocations.
Pace find_pace(std::span<const Site* const> sites, const Iterations& iterations, const DeviceHistory& device,
               size_t since);

}  // namespace tidemark
