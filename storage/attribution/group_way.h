// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The grouping of allocations that the option --by selects.
#pragma once

#include <string>

#include "storage/attribution/attribution.h"
#include "storage/base/result.h"

namespace tidemark {

struct Way {
    GroupBy by = GroupBy::stack;
    GroupOptions options;
};

/// Parses "line" or "module:2". Errors (usage) list the valid groupings.
Result<Way> parse_way(const std::string& text);

/// Returns whether the grouping needs the recorded graph.
bool needs_graph(GroupBy by);

}  // namespace tidemark
