// Three sentences for somebody who reads nothing else: where the memory is, whether it grows, what to do first.
#pragma once

#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/explanation.h"
#include "storage/text/words.h"

namespace tidemark {

/// Fills course, headline, total and shares; findings are sorted already.
void write_summary(const AnalysisContext& context, const Words& words, Explanation& explanation);

}  // namespace tidemark
