// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Garbage in reference cycles that Python's garbage collector does not free, because it is disabled or frozen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns whether a scan found the suspect's memory in a cycle while the program worked. At its end, variables are
/// gone that referred to the cycle. Needs a graph.
bool was_in_cycle(const AnalysisContext& context, const LeakSuspect& suspect);

/// Returns how many spans of this kind, whose names start with `name`, began since the growth did.
int64_t count_spans(const AnalysisContext& context, const LeakSuspect& suspect, AnnotationKind kind,
                    std::string_view name);

/// Returns whether the suspect's memory was in cycles, and no garbage collection freed anything since the growth began:
/// what a collection leaves is no garbage. Needs a graph.
bool stays_in_cycles(const AnalysisContext& context, const LeakSuspect& suspect);

/// Returns the class of the exception in the cycle: a variable of a function that the exception left refers to it. ""
/// for other cycles.
std::string exception_of_cycle(const GraphTables& tables, const Referrer& referrer);
/// Returns how to break cycles, and how to collect them.
std::vector<Fix> fixes_of_cycles(const AnalysisContext& context, const LeakSuspect& suspect, const Words& words);
/// Returns the name of the nested function that is the only object of the cycle, because it calls itself; "" for other
/// cycles.
std::string name_of_recursive_function(const GraphTables& tables, const Referrer& referrer);

}  // namespace tidemark
