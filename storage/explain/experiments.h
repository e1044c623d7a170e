// The recorded run with other allocator settings, as findings tell of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/base/progress.h"
#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/explain/words.h"
#include "storage/whatif/what_if.h"

namespace tidemark {

struct Experiment {
    std::string text;  ///< "with expandable_segments:True"
    std::string code;  ///< lines to copy
    Change change;
    Outcome outcome;
};

/// What came of replaying a run; nothing is tried where the model cannot reproduce the recording, or where the trace is
/// too long for an answer while somebody waits.
struct Experiments {
    bool was_tried = false;
    std::string why_not;  ///< a sentence, where it was not tried
    Outcome as_recorded;
    std::vector<Experiment> tried;
    std::optional<Capacity> capacity;
};

/// Expandable segments, max_split_size, roundup divisions, garbage collection, empty_cache() right before the failure,
/// and, if something piled up, the run without the pile.
Experiments try_settings(const AnalysisContext& context, const Words& words, std::optional<EventNumber> failure,
                         Progress& progress);
/// Expandable segments alone.
Experiments try_expandable(const AnalysisContext& context, const Words& words, Progress& progress);

}  // namespace tidemark
