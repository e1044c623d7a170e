// Phrases and links that findings have in common.
#pragma once

#include <string>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/explain/words.h"

namespace tidemark {

/// The user's own line: "train.py:42 forward", without folders; "" for no stack.
std::string line_of(const Trace& trace, StackId stack);
/// What of an allocation or site the origin knows: "aten::mul (module `net.0`, forward)"; "" when nothing.
std::string doing_of(const Trace& trace, const Words& words, uint32_t origin);
/// "step 12", "round 12"
std::string iteration_name(const AnalysisContext& context, const Words& words, int64_t position);
/// "step", "round"
std::string iteration_words(const AnalysisContext& context, const Words& words);
/// "per step", "per iteration"
std::string each_iteration(const AnalysisContext& context, const Words& words);
/// "the end of step 59", "the out-of-memory error", "the end of the trace": Explanation::moment.
std::string time_point_name(const AnalysisContext& context, const Words& words);

/// A state of the device; the text is the caller's.
Evidence at_event(const AnalysisContext& context, std::string text, EventNumber event);
Evidence at_iteration(const AnalysisContext& context, std::string text, int64_t position);
/// The state right after it was made.
Evidence at_allocation(const AnalysisContext& context, std::string text, AllocationIndex allocation);
Evidence at_node(const AnalysisContext& context, std::string text, NodeIndex node);
Evidence at_component(const AnalysisContext& context, std::string text, ComponentKind component);

/// Sets stack and line.
void set_line(Finding& finding, const AnalysisContext& context, StackId stack);
/// Sets since and since_round from a position in rounds.
void set_since(Finding& finding, const AnalysisContext& context, size_t iteration);

}  // namespace tidemark
