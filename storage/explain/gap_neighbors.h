// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Which tensors lie beside free gaps, by the line that allocated them: they keep the gaps from being larger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/oom/oom_analysis.h"
#include "storage/text/words.h"

namespace tidemark {

/// The tensors of one line.
struct GapNeighbors {
    FrameId line = 0;
    AllocationIndex example = no_allocation;  ///< the first that was added; of main_neighbors() the first in memory
    const Referrer* referrer = nullptr;       ///< of any of them; nullptr: unknown
    int64_t free = 0;                         ///< bytes of the gaps beside them
    int64_t count = 0;                        ///< of these gaps
    int64_t alone = 0;  ///< of `free`, in segments that contain nothing else; set by main_neighbors()
};

/// Adds a gap beside this tensor to the group of the tensor's line, and returns the group.
GapNeighbors& add_gap(std::vector<GapNeighbors>& groups, const AnalysisContext& context, AllocationIndex beside,
                      int64_t free);

/// Most bytes of gaps first.
void sort_by_free(std::vector<GapNeighbors>& groups);

/// Returns "list `pages` (variable of main, index.py:31)", or the line that allocated the tensors.
std::string neighbor_words(const AnalysisContext& context, const Words& words, const GapNeighbors& neighbors);

/// Returns the tensors of one line beside which at least half of the free memory lay at the error; nothing if there are
/// few, or if no line has so many.
std::optional<GapNeighbors> main_neighbors(const AnalysisContext& context, const OomAnalysis& oom_analysis);

/// Returns "1.26 GiB lie beside 160 tensors from train.py:75."
std::string main_neighbors_words(const AnalysisContext& context, const Words& words, const GapNeighbors& neighbors);
/// Returns the advice to move them.
std::string move_neighbors_words(const Words& words);

}  // namespace tidemark
