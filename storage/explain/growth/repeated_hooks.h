// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Repeated hooks: a hook that is registered again and again and never removed. Each call of its module runs it more
// often than before, and each run allocates. The memory may be freed in between, so that only the peaks rise.
#pragma once

#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns a finding for each hook that one call of a module runs more and more often: the number of its allocations,
/// with no other allocation of the thread between them, rises in at least five levels, by whole multiples of the first
/// one, and never falls. Visits the allocations a few times.
std::vector<Finding> repeated_hooks(const AnalysisContext& context, const Words& words);

}  // namespace tidemark
