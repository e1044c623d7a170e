// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Containers that fill with arrays in the pool of a library, such as XLA's: driver allocations do not show them, but
// heap scans counted them.
#pragma once

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns a finding for each container that had more arrays in each of the last heap scans, most bytes first.
Findings pool_growth(const AnalysisContext& context, const Words& words);

}  // namespace tidemark
