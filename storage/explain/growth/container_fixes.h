// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Where the program stores tensors in a container that fills, for fixes that change that line.
#pragma once

#include <optional>

#include "storage/explain/gpu_library.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/stored_copies.h"

namespace tidemark {

/// Returns the container that the suspect's paths lead to; nothing if there is none, or several.
std::optional<FilledContainer> filled_container(const LeakSuspect& suspect);

/// Makes the fix that stores copies in host memory fit to the line that stores: sets its diff or, if the line has
/// another form, names it in place of the code. Leaves the fix as it is without a container, or if the line is unknown.
/// Requires a graph.
void fit_to_storing_line(Fix& fix, const AnalysisContext& context, const std::optional<FilledContainer>& container,
                         GpuLibrary library, const Words& words);

/// Does the same for a fix that detaches graphs, and says which other containers retain them.
void fit_to_graph_containers(Fix& fix, const AnalysisContext& context, const LeakSuspect& suspect, const Words& words);

}  // namespace tidemark
