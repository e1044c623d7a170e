// What a trace cannot tell, and what would have told it.
#pragma once

#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/text/words.h"

namespace tidemark {

/// One sentence each: no graph, no holders, no samples, a history without its beginning, ...
std::vector<std::string> what_was_not_recorded(const AnalysisContext& context, const Words& words);

}  // namespace tidemark
