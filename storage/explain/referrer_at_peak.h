// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What retained memory at the peak of a run, which the program may have freed since then.
#pragma once

#include <span>
#include <string>

#include "storage/explain/analysis_context.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns what retained these allocations at the peak, as the heap scan that describes it found: a container of
/// several of them, or what retained most of their bytes. `by_age`: all of one line, oldest first. Returns "" if no
/// scan found that.
std::string referrer_at_peak(const AnalysisContext& context, std::span<const AllocationIndex> by_age,
                             const Words& words);

}  // namespace tidemark
