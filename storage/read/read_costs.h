// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Loads from the file of an open trace what its recording cost the program.
#pragma once

#include <vector>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/recording_cost.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Reads the rows; none in imported traces, excerpts, redacted copies and traces of earlier versions. Leaves out rows
/// that cannot be true. Errors: as open_trace. Thread: any.
Result<std::vector<RecordingCost>> read_recording_costs(const Trace& trace, Progress& progress);

}  // namespace tidemark
