// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Points in time of tables, and what is active then.
#pragma once

#include <optional>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/replay/active_walk.h"

namespace tidemark {

/// Requires a point that the device has: "peak" and "end" always exist.
TimePoint point_of(const AnalysisContext& context, const char* name);

std::vector<ActiveAllocation> active_at(const AnalysisContext& context, const TimePoint& point);

/// Returns nothing if no graph was recorded.
std::optional<Category> category_of(const AnalysisContext& context, const ActiveAllocation& active);

}  // namespace tidemark
