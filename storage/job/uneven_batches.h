// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Ranks that do the same work on larger tensors.
#pragma once

#include <optional>

#include "storage/job/process_summary.h"

namespace tidemark {

/// Returns whether the site's memory is allocated in every step and lives for no longer than about one: what is left of
/// it at the end belongs to the last step.
bool is_of_each_step(const ProcessSummary& process, const SiteMemory& site);

/// Returns by what factor a site's tensors are larger at the peak than the other rank's, which allocates there about
/// as often; nothing if it is not clear that they are.
std::optional<double> larger_by(const SiteMemory& site, const SiteMemory& other);

}  // namespace tidemark
