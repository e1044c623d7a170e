// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Where the memory at the peak comes from, for traces without iterations.
#pragma once

#include <string>

#include "storage/explain/analysis_context.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns a sentence with the line that allocated most of the memory at the peak. It first names what no line
/// allocated if that is more: memory from before the history, gradients of a backward pass in C++. Returns an empty
/// string if no origin is known.
std::string memory_at_peak(const AnalysisContext& context, const Words& words);

/// Returns how much more a snapshot has reserved than was allocated at the peak; "" if that is little.
std::string reserved_beyond_peak(const AnalysisContext& context, const Words& words);

}  // namespace tidemark
