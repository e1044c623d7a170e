// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes one compact file to send to somebody else, without private text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/export/redaction.h"
#include "storage/trace/trace.h"
#include "storage/write/trace_writer.h"

namespace tidemark {

struct ShareRequest {
    Redaction redaction;
    std::string from, to;     ///< time points for find_time_point on the main device; empty: start and end
    bool with_notes = false;  ///< the user's notes, unchanged, in a file beside the copy
};

/// The private texts that a trace contains.
struct PrivateTexts {
    bool command_line = false, source_lines = false, paths = false, names = false, time = false;
    bool any() const { return command_line || source_lines || paths || names || time; }
};
PrivateTexts private_texts(const Trace& trace);

struct ShareReport {
    int64_t events = 0;
    int64_t allocations = 0;
    int64_t input_bytes = 0;  ///< of the trace
    int64_t file_bytes = 0;   ///< of the copy
    int64_t notes = 0;        ///< that go along
    PrivateTexts left;        ///< in the copy
    std::vector<RemovedTexts> removed;
};

/// Returns the trace to write: cut and redacted, with a `redacted` data gap that lists the changes. The time points of
/// the main device set the times for the other devices. `graph` gets the same changes if the trace has one. `allowed`,
/// if not nullptr, gets the texts that may stay. Errors: a time point that does not exist, an empty range (usage).
Result<Trace> prepare_to_share(const Trace& trace, const ShareRequest& request, GraphTables* graph = nullptr,
                               AllowedTexts* allowed = nullptr, RedactionLog* log = nullptr);

/// Writes a new file at `output`. A redacted file gets its name only after check_redacted_file(). On error or
/// cancellation, no file is left there. `input` is only read.
Result<ShareReport> share_trace(const std::string& input, const std::string& output, const ShareRequest& request,
                                IfExists if_exists, Progress& progress);

/// Returns what share_trace() would report. Writes and checks the copy in the folder for temporary files and removes
/// it, so that its size is exact and nothing is listed that stays.
Result<ShareReport> preview_share(const std::string& input, const ShareRequest& request, Progress& progress);

}  // namespace tidemark
