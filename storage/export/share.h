// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// One compact file for a teammate, without what is none of their business.
#pragma once

#include <cstdint>
#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/export/redaction.h"
#include "storage/trace/trace.h"
#include "storage/write/trace_writer.h"

namespace tidemark {

struct ShareRequest {
    Redaction redaction;
    std::string from, to;  ///< as find_time_point takes them, on the main device; empty: start and end
};

struct ShareReport {
    int64_t events = 0;
    int64_t allocations = 0;
    int64_t file_bytes = 0;
};

/// Returns the trace as it will be written: cut, redacted, with a `redacted` data gap that says what was done.
/// The time points set the times for the other devices. `graph` gets the same changes, if the trace has one. Errors: a
/// time point that does not exist, an empty range (usage).
Result<Trace> prepare_to_share(const Trace& trace, const ShareRequest& request, GraphTables* graph = nullptr);

/// Writes a new file at `output`; on error or cancellation nothing is left there. `input` is only read.
Result<ShareReport> share_trace(const std::string& input, const std::string& output, const ShareRequest& request,
                                IfExists if_exists, Progress& progress);

}  // namespace tidemark
