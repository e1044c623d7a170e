// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Copies of weights in half precision, which autocast makes at the first use of a weight and caches.
#pragma once

#include <span>

#include "storage/explain/surviving_allocations.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Counts the copies among the sites' allocations that exist at the time point. A copy was allocated by an op that
/// autocast runs in half precision, and is half as large as an older allocation of another of these sites, which
/// another op made: the weight.
/// Returns 0 if there are so few that sizes may agree by chance.
int64_t count_autocast_copies(const Trace& trace, const DeviceHistory& device, std::span<const Site* const> sites);

}  // namespace tidemark
