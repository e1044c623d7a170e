// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The change of the program that stores copies in host memory in a container, in place of GPU tensors.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "storage/explain/analysis_context.h"
#include "storage/explain/container_lines.h"
#include "storage/explain/gpu_library.h"

namespace tidemark {

/// A container that fills, by the path to one of its tensors.
struct FilledContainer {
    std::span<const PathLink> path;  ///< without views of memory
    size_t end = 0;                  ///< number of links that name the container
    size_t element = 0;              ///< position of the link into it
};

/// The line that stores into a container.
struct StoringLine {
    SourcePlace place;
    std::string_view value;          ///< what it stores, in the line's text
    std::vector<std::string> parts;  ///< the tensors in it: "output["scores"]"; empty: unknown
    std::string diff;                ///< stores copies of them; "" if the line's form is unknown
};

/// Returns the only recorded line that stores into the container; nothing if there is none, or several. Requires a
/// graph.
std::optional<StoringLine> storing_line(const AnalysisContext& context, const FilledContainer& container,
                                        GpuLibrary library);

}  // namespace tidemark
