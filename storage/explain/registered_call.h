// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The line of the program that creates a functools.partial, for fixes of its arguments.
#pragma once

#include <optional>
#include <string>

#include "storage/explain/analysis_context.h"
#include "storage/explain/source_change.h"

namespace tidemark {

struct RegisteredCall {
    SourcePlace place;
    std::string diff;  ///< passes copies in host memory; "" if the line's form is unknown
};

/// Returns the only recorded line with a partial() of the function through whose argument the path leads; nothing if
/// the path leads through none. Requires a graph.
std::optional<RegisteredCall> registered_call(const AnalysisContext& context, const std::vector<PathLink>& path);

}  // namespace tidemark
