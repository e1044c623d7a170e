// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// How allocations are grouped, as the option --by names it.
#pragma once

#include <string>

#include "storage/attribution/attribution.h"
#include "storage/base/result.h"

namespace tidemark::cli {

/// By what allocations are grouped.
struct Way {
    GroupBy by = GroupBy::stack;
    GroupOptions options;
};

/// "line", "module:2". Errors name what exists.
Result<Way> parse_way(const std::string& text);

/// Returns whether the grouping needs the recorded graph.
bool needs_graph(GroupBy by);

}  // namespace tidemark::cli
