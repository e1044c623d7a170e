// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Stacked pictures by category, which follow an allocation from one category to the next.
#pragma once

#include "storage/graph/categories.h"
#include "storage/timeline/columns.h"

namespace tidemark {

/// One group for each category, by category_name, the last one "unknown". `device`: position in Trace::devices. What a
/// category is in the state at event n is what it is by the end of that state (DeviceHistory::time_until), as
/// attribution_at has it.
Grouping group_by_category(const Categories& categories, uint32_t device);

}  // namespace tidemark
