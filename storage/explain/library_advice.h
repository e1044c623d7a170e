// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Fixes that the API of a library offers for memory that the library allocates or retains. The stack of the allocation
// shows the library, or the retention path, if it leads through an object of a class of the library.
#pragma once

#include <optional>
#include <vector>

#include "storage/explain/finding.h"
#include "storage/explain/retention.h"
#include "storage/text/words.h"
#include "storage/trace/graph_tables.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// A path to memory.
struct RetentionPath {
    const GraphTables& tables;
    const std::vector<PathLink>& links;
};

/// Returns the fix for memory that this stack allocated and that grows: the library retains it, or calls code of the
/// program that does. Returns nothing if no library in the stack is known for it. The fix has no
/// bytes. `path`: to the memory; the code of the fix then uses its names.
std::optional<Fix> library_fix_of_growth(const Trace& trace, const Words& words, StackId stack,
                                         const RetentionPath* path = nullptr);

/// The same for memory that filled a cache and grows no longer.
std::optional<Fix> library_fix_of_cache(const Trace& trace, const Words& words, StackId stack);

/// Returns the fix for memory that grows and to which these links lead, if an object of a library retains what it is
/// given. Stacks of the trace show which classes are the library's. An object whose tensors grow (Growth::of_size) is
/// the same in all iterations. The fix has no bytes. `stack`: of the memory; the code of the fix then leaves out what
/// the program's call has already.
std::optional<Fix> library_fix_of_path(const Trace& trace, const GraphTables& tables, const Words& words,
                                       const std::vector<PathLink>& links, Growth growth, StackId stack = 0);

/// Returns whether the outermost container on the path is in an object of a library, which alone fills it.
bool is_filled_by_library(const Trace& trace, const GraphTables& tables, const std::vector<PathLink>& links);

/// Returns the fix for memory that this stack requests, whether it grows or not: the library itself accumulates or
/// copies it. Returns nothing if no library in the stack is known for it. The fix has no bytes.
std::optional<Fix> library_fix_of_request(const Trace& trace, const Words& words, StackId stack);

}  // namespace tidemark
