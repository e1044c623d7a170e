// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The parts of a value that are tensors, as heap scans found them.
#pragma once

#include <span>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/copied_value.h"

namespace tidemark {

/// Returns the different continuations, from the link at `end` on, of all paths that begin with these links. Omits
/// views of memory. Requires a graph.
std::vector<ValuePart> parts_behind(const AnalysisContext& context, std::span<const PathLink> beginning, size_t end);

}  // namespace tidemark
