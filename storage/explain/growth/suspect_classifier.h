// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Classifiers of leak suspects: each recognizes one cause of growth.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

/// One cause of growth. Each descriptor has its own file, growth/NAME.cpp, and a line in finding_kinds.h.
struct SuspectClassifier {
    FindingKind id;
    /// Returns nothing if the suspect has another cause. The caller sets the kind.
    std::optional<Finding> (*classify)(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words);
};

namespace classifiers {

#define TIDEMARK_CLASSIFIER(name, word) extern const SuspectClassifier name;
TIDEMARK_FINDING_KINDS(TIDEMARK_CLASSIFIER, TIDEMARK_NO_KIND, TIDEMARK_CLASSIFIER)
#undef TIDEMARK_CLASSIFIER

}  // namespace classifiers

/// Returns all classifiers by precedence: special causes first. The last one recognizes every suspect.
std::span<const SuspectClassifier* const> all_suspect_classifiers();

/// Returns the finding of the first classifier that recognizes the suspect.
std::optional<Finding> classify_suspect(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words);

/// Returns a finding about this suspect with everything except kind, title, text, fixes and unknowns: bytes, bytes per
/// iteration, since, line, referrer and evidence (the newest allocation, the node that saved it, its root, the first
/// iteration).
Finding suspect_finding(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words);

/// Returns "Every iteration retains another 8.00 KiB: 480 KiB so far." If the memory grows in some iterations only,
/// add_rises() says when, and this sentence does not.
std::string retained_so_far(const LeakSuspect& suspect, const Words& words);
/// Returns the position of the link into the container that fills; the number of links if there is none. Requires a
/// referrer.
size_t position_of_element(const LeakSuspect& suspect);

/// Returns whether each tensor of the suspect has one element, as item() requires.
bool are_numbers(const AnalysisContext& context, const LeakSuspect& suspect);

}  // namespace tidemark
