// How allocations are added up, as the command line says it.
#pragma once

#include <string>

#include "storage/attribution/attribution.h"
#include "storage/base/result.h"

namespace tidemark::cli {

/// By what allocations are added up.
struct Way {
    GroupBy by = GroupBy::stack;
    GroupOptions options;
};

/// "line", "module:2". Errors name what exists.
Result<Way> parse_way(const std::string& text);

/// Whether it needs the recorded graph.
bool needs_graph(GroupBy by);

}  // namespace tidemark::cli
