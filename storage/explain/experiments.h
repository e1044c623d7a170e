// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Replays of the recorded run with other allocator settings, for use in findings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/base/progress.h"
#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"
#include "storage/whatif/what_if.h"

namespace tidemark {

struct Experiment {
    std::string text;  ///< "with expandable_segments:True"
    std::string code;  ///< lines to copy
    Change change;
    Outcome outcome;
    bool surely_fails = false;  ///< even with the largest capacity that the recording allows
};

/// The results of the replays. Nothing is replayed if the model cannot reproduce the recording as exactly as the
/// conclusion needs, or if the trace is too long for an interactive answer.
struct Experiments {
    bool was_tried = false;
    std::string why_not;  ///< a sentence, if nothing was replayed
    /// A sentence, if the model has the recorded peak, but not every block in its place.
    std::string estimate;
    Outcome as_recorded;
    std::vector<Experiment> tried;
    std::optional<Capacity> capacity;  ///< known without replays, too
};

/// Returns the change that frees each leak suspect at the end of the iteration after the one that allocated it. Returns
/// nothing if that frees less than half of what grows before the event: each tensor of a growing one replaces the last,
/// so the replay would be the recorded run, which shows nothing about a fix.
std::optional<Change> without_suspects(const AnalysisContext& context, EventNumber until);

/// Replays expandable segments, max_split_size, roundup divisions and garbage collection unless they are on already,
/// empty_cache() right before the failure, and the run without its leak suspects.
Experiments try_settings(const AnalysisContext& context, const Words& words, std::optional<EventNumber> failure,
                         Progress& progress);
/// Returns whether expandable segments are on, by the settings or by the memory of any device: programs can turn them
/// on while they run, which the recorded settings do not show.
bool uses_expandable_segments(const AnalysisContext& context);
/// Returns whether the fix only sets an option of the allocator.
bool is_allocator_setting(const Fix& fix);
/// Replays expandable segments only; nothing if they are on.
Experiments try_expandable(const AnalysisContext& context, const Words& words, Progress& progress);

/// Adds the fix of expandable segments with the bytes that a replay saved, or why nothing was replayed.
void add_expandable_fix(Finding& finding, const AnalysisContext& context, const Words& words, Progress& progress);

}  // namespace tidemark
