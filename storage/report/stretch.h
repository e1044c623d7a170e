// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The part of a run that the plots over time of a report show.
#pragma once

#include "storage/explain/analysis_context.h"

namespace tidemark {

struct Stretch {
    int64_t start = 0, end = 0;  ///< ns since trace start
    bool is_part = false;        ///< not the whole run
};

/// Returns the run from the device's first event on. If most events lie in a short part of the run, returns that part.
Stretch stretch_of(const AnalysisContext& context);

}  // namespace tidemark
