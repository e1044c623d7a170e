// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Summarizes the trace of a process.
#pragma once

#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/job/process_summary.h"

namespace tidemark {

/// Opens and explains a trace: about a second for 10 million events. Errors: as open_trace(). Thread: any.
Result<ProcessSummary> summarize_trace(const std::string& path, Progress& progress);

/// Returns the size and the time of change of a file, as in ProcessSummary; zeros if there is none.
struct FileState {
    int64_t bytes = 0, modified_ns = 0;
    bool operator==(const FileState&) const = default;
};
FileState state_of_file(const std::string& path);

}  // namespace tidemark
