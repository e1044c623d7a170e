// Diagnoses of memory that piles up. Each pile is read by all of these in order, special ones first; the first that
// knows its cause tells it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

/// Nothing: the cause is another one.
using SuspectClassifier = std::optional<Finding> (*)(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words);

/// Special causes first; the last one knows only that something grows, and always answers.
std::span<const SuspectClassifier> all_suspect_classifiers();

/// A finding about this pile with everything filled in but kind, title, text, fixes and what was not known: bytes, per
/// round, since, line, holder, evidence (the newest allocation, the node that keeps it, its root, the first round).
Finding suspect_finding(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words);

/// "Every round leaves 8.00 KiB behind, 480 KiB by now."
std::string left_behind(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words);

std::optional<Finding> classify_create_graph_cycle(const AnalysisContext&, const LeakSuspect&, const Words&);
std::optional<Finding> classify_hook_reference_cycle(const AnalysisContext&, const LeakSuspect&, const Words&);
std::optional<Finding> classify_hook_retains_activations(const AnalysisContext&, const LeakSuspect&, const Words&);
std::optional<Finding> classify_ctx_retains_tensors(const AnalysisContext&, const LeakSuspect&, const Words&);
std::optional<Finding> classify_exception_retains_frames(const AnalysisContext&, const LeakSuspect&, const Words&);
std::optional<Finding> classify_autocast_cache(const AnalysisContext&, const LeakSuspect&, const Words&);
std::optional<Finding> classify_loss_accumulated_with_graph(const AnalysisContext&, const LeakSuspect&, const Words&);
std::optional<Finding> classify_hidden_state_not_detached(const AnalysisContext&, const LeakSuspect&, const Words&);
std::optional<Finding> classify_retained_graph(const AnalysisContext&, const LeakSuspect&, const Words&);
std::optional<Finding> classify_eval_without_no_grad(const AnalysisContext&, const LeakSuspect&, const Words&);
std::optional<Finding> classify_growing_container(const AnalysisContext&, const LeakSuspect&, const Words&);
std::optional<Finding> classify_unexplained_growth(const AnalysisContext&, const LeakSuspect&, const Words&);

}  // namespace tidemark
