// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Opens a trace. The file is not trusted until it is checked; the result is immutable columns in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Opens and checks a trace and loads its columns. Never writes to the file. Errors: missing or unreadable file
/// (environment); not SQLite, another program's SQLite file, written by a newer Tidemark, corrupt (input); canceled.
/// Thread: any; uses further threads for decoding and for the seal.
Result<std::shared_ptr<const Trace>> open_trace(const std::string& path, Progress& progress);

/// What the repeated steps of a device have in common, without those whose details were deleted.
struct RepeatsSummary {
    int64_t steps = 0, peak_allocated = 0;
};

/// What describes a trace: all but its steps.
struct TraceSummary {
    std::shared_ptr<const Trace> trace;  ///< without steps, and without repeated steps whose details were not deleted
    int64_t steps = 0;
    std::vector<RepeatsSummary> repeats;  ///< in the order of Trace::devices
};
/// Opens a trace like open_trace, but does not read each of its steps, of which there may be millions.
Result<TraceSummary> open_summary(const std::string& path, Progress& progress);

/// Checks every page, every checksum and every row of a trace, also those that open_trace does not read. Returns a data
/// gap for each kind of damage. Takes minutes for very large files; can be canceled. Errors: as open_trace.
Result<std::vector<DataGap>> check_trace(const std::string& path, Progress& progress);

}  // namespace tidemark
