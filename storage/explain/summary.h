// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The summary: three sentences about where the memory is, whether it grows, and what to do first.
#pragma once

#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/explanation.h"
#include "storage/text/words.h"

namespace tidemark {

/// Sets run_trend and summary of a file that contradicts itself: its bytes have no meaning.
void write_contradiction(const AnalysisContext& context, const Words& words, Explanation& explanation);

/// Sets run_trend, summary, total and shares. Requires sorted findings.
void write_summary(const AnalysisContext& context, const Words& words, Explanation& explanation);

}  // namespace tidemark
