// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Growth that has ended: memory that rose round by round in a loop of its own, between two iterations or after the last
// one. A list of results that the program goes on to use rises so, too. Two kinds of memory are certainly of no use: a
// graph that continues from round to round and that no backward pass executes, and storages that small views retain.
#pragma once

#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns the parts of the run in which a loop of its own may have ended: work between two iterations, or after the
/// last, that is much longer than they are, up to the state with most memory. At most two, the highest rise first.
std::vector<RunPart> parts_between_iterations(const AnalysisContext& context);

/// Returns whether nothing needed the memory of a suspect of such a part. `part`: its context.
bool is_needless_growth(const AnalysisContext& context, const AnalysisContext& part, const LeakSuspect& suspect);

/// Says in the finding about such a suspect that the loop has ended, and what became of the memory.
void add_end(Finding& finding, const AnalysisContext& context, const LeakSuspect& suspect, const Words& words);

}  // namespace tidemark
