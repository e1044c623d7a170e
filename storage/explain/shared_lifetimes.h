// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Memory that is allocated and freed together: the parts of the entries of one container.
#pragma once

#include "storage/explain/surviving_allocations.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Returns whether each allocation of the site existed as long as the nearest one of the other site: both were freed
/// before the same next allocation of the site, or both exist. Allocations of two sites that are freed in each
/// iteration prove nothing, so several must have outlived the next ones. Visits all allocations twice.
bool share_lifetimes(const Site& site, const Site& other, const Trace& trace, const DeviceHistory& device);

}  // namespace tidemark
