// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Enough memory was free, but in gaps beside small tensors of one line, which stay.
#include "storage/base/units.h"
#include "storage/explain/gap_neighbors.h"
#include "storage/explain/oom/oom_answer.h"

namespace tidemark {

void oom_advice::gaps_beside_tensors(const OomCase& oom, const Words& words, OomAnswer& answer, Progress&) {
    if (!oom.analysis().is_fragmented()) {
        return;
    }
    const auto neighbors = main_neighbors(oom.context(), oom.analysis());
    if (!neighbors) {
        return;
    }
    // Copies of what stays take as much as before, in one piece.
    const bool fits = neighbors->alone >= oom.analysis().segment_bytes;
    answer.text.push_back(words.sentences({words("{free} were free in gaps too small for the request.",
                                                 with("free", format_bytes(oom.analysis().free_in_segments()))),
                                           main_neighbors_words(oom.context(), words, *neighbors)}));
    std::string advice = words.sentences(
        {move_neighbors_words(words), fits ? words("The request would then have fit.") : std::string()});
    answer.fixes.push_back({{std::move(advice), "", neighbors->free, {}}, fits});
}

}  // namespace tidemark
