// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes one compact file to send to somebody else, without private text.
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
    std::string from, to;  ///< time points for find_time_point on the main device; empty: start and end
};

struct ShareReport {
    int64_t events = 0;
    int64_t allocations = 0;
    int64_t file_bytes = 0;
};

/// Returns the trace to write: cut and redacted, with a `redacted` data gap that lists the changes. The time points of
/// the main device set the times for the other devices. `graph` gets the same changes if the trace has one. Errors: a
/// time point that does not exist, an empty range (usage).
Result<Trace> prepare_to_share(const Trace& trace, const ShareRequest& request, GraphTables* graph = nullptr);

/// Writes a new file at `output`. On error or cancellation, no file is left there. `input` is only read.
Result<ShareReport> share_trace(const std::string& input, const std::string& output, const ShareRequest& request,
                                IfExists if_exists, Progress& progress);

}  // namespace tidemark
