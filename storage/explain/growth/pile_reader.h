// Diagnoses of memory that piles up. Each pile is read by all of these in order, special ones first; the first that
// knows its cause tells it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "storage/explain/case.h"
#include "storage/explain/finding.h"
#include "storage/explain/words.h"

namespace tidemark {

/// Nothing: the cause is another one.
using PileReader = std::optional<Finding> (*)(const Case& of, const Pile& pile, const Words& words);

/// Special causes first; the last one knows only that something grows, and always answers.
std::span<const PileReader> all_pile_readers();

/// A finding about this pile with everything filled in but kind, title, text, fixes and what was not known: bytes, per
/// round, since, line, holder, evidence (the newest allocation, the node that keeps it, its root, the first round).
Finding about_pile(const Case& of, const Pile& pile, const Words& words);

/// "Every round leaves 8.00 KiB behind, 480 KiB by now."
std::string left_behind(const Case& of, const Pile& pile, const Words& words);

std::optional<Finding> read_gradient_cycle(const Case&, const Pile&, const Words&);
std::optional<Finding> read_hook_cycle(const Case&, const Pile&, const Words&);
std::optional<Finding> read_hook_keeps(const Case&, const Pile&, const Words&);
std::optional<Finding> read_ctx_keeps(const Case&, const Pile&, const Words&);
std::optional<Finding> read_exception_keeps(const Case&, const Pile&, const Words&);
std::optional<Finding> read_autocast_cache(const Case&, const Pile&, const Words&);
std::optional<Finding> read_loss_summed(const Case&, const Pile&, const Words&);
std::optional<Finding> read_state_carried(const Case&, const Pile&, const Words&);
std::optional<Finding> read_retained_graph(const Case&, const Pile&, const Words&);
std::optional<Finding> read_evaluation_builds_graph(const Case&, const Pile&, const Words&);
std::optional<Finding> read_tensors_collected(const Case&, const Pile&, const Words&);
std::optional<Finding> read_unexplained_growth(const Case&, const Pile&, const Words&);

}  // namespace tidemark
