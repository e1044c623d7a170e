// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// When a container that fills is dropped by itself, with all that it retains.
#pragma once

#include "storage/explain/growth/suspect_classifier.h"

namespace tidemark {

/// Says when a list or dict that is a variable goes: where its function makes it anew in a loop, or when the function
/// returns, if a loop calls it. Sets Finding::ends_with_variable then. Requires a graph.
void add_end_of_container(Finding& finding, const AnalysisContext& context, const LeakSuspect& suspect,
                          const Words& words);

}  // namespace tidemark
