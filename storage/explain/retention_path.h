// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The retention path of a leak, from a variable of the program to the memory, with sizes.
#pragma once

#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns the path to the suspect's example: the links from the variable that a heap scan found, the autograd nodes
/// from the root to the one that saved the memory, the saved tensor and the allocation. Long paths lose their middle.
/// Empty if neither a referrer nor the graph is known.
std::vector<RetentionStep> retention_path(const AnalysisContext& context, const LeakSuspect& suspect,
                                          const Words& words);

}  // namespace tidemark
