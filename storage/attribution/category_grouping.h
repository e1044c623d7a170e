// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Groups for stacked charts by category. An allocation moves to another group when its category changes.
#pragma once

#include "storage/graph/categories.h"
#include "storage/timeline/columns.h"

namespace tidemark {

/// Returns one group per category, named by category_name; the last one is "unknown". `device`: position in
/// Trace::devices. The category in the state at event n is the category at the end of that state
/// (DeviceHistory::time_until), as in attribution_at().
Grouping group_by_category(const Categories& categories, uint32_t device);
/// Returns the category of one of its groups.
Category category_of_group(size_t group);

}  // namespace tidemark
