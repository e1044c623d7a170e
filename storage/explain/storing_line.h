// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The lines of the program that put tensors into a container and take them out of it, often others than that which
// allocates them.
#pragma once

#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

/// Adds a sentence with the only recorded line of the program's files that puts something into the container to which
/// the first `end` links of the path lead: `self.vectors.append(row)`, `rows[name].extend(part)`, `cache[key] = value`.
/// Adds nothing if there is none, or several, because names repeat, and if it is the finding's own line. If the line is
/// known, adds another sentence with the first one that removes something: `self.vectors.popleft()`. Requires a graph,
/// and Finding::stack.
void add_storing_line(Finding& finding, const AnalysisContext& context, const std::vector<PathLink>& path, size_t end,
                      const Words& words);

/// Returns what the program calls the key in that line, "number" of `self.conversations[number] = value`; "" if the
/// line is unknown, or if its key is no name. Requires a graph.
std::string key_in_program(const AnalysisContext& context, const std::vector<PathLink>& path);

}  // namespace tidemark
