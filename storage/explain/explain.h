// From a trace to the explanation.
#pragma once

#include <memory>
#include <vector>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/explain/analysis_context.h"
#include "storage/explain/explanation.h"
#include "storage/text/words.h"

namespace tidemark {

/// Asks every diagnosis and puts the answers in order. About a second for 10 million events.
Explanation explain(const AnalysisContext& context, const Words& words, Progress& progress);

}  // namespace tidemark
