// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Sentences about the data gaps of a trace, and how to record the missing data.
#pragma once

#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns one sentence for each gap: no graph, no heap scan, no samples, a history without its beginning, ...
std::vector<std::string> what_was_not_recorded(const AnalysisContext& context, const Words& words);

}  // namespace tidemark
