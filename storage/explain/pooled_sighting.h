// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What a heap scan found of arrays in a library's pool, and the parts that all findings about it have.
#pragma once

#include <optional>
#include <string>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/graph/pooled_arrays.h"
#include "storage/text/words.h"

namespace tidemark {

/// What one heap scan found in a container.
struct PooledSighting {
    int64_t time = 0;
    PooledArrays arrays;
    Referrer path;   ///< to one of its elements
    PathLink maker;  ///< function, file and line that made one of the arrays
};

/// Returns nothing if the referrer is not one of arrays in a pool.
std::optional<PooledSighting> pooled_sighting(const GraphTables& tables, const Referrer& referrer);

/// Returns "3 arrays".
std::string arrays_words(int64_t arrays, const Words& words);

/// Returns a leak with everything but since, referrer, title, text, path, fixes and evidence. Needs a graph.
Finding finding_of_pooled(const AnalysisContext& context, const PooledSighting& sighting, const Words& words);

/// Returns what the scan found, with its time.
Evidence pooled_evidence(const PooledSighting& sighting, const Words& words);

}  // namespace tidemark
