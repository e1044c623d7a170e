// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Explains a trace.
#pragma once

#include <memory>
#include <vector>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/explain/analysis_context.h"
#include "storage/explain/explanation.h"
#include "storage/text/words.h"

namespace tidemark {

/// Runs all diagnoses and sorts their findings. Takes about a second for 10 million events.
Explanation explain(const AnalysisContext& context, const Words& words, Progress& progress);

}  // namespace tidemark
