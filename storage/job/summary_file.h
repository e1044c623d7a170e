// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The summary of a trace as a JSON file of the job's folder. Written whole under a new name and then renamed, so that
// processes on several nodes need no lock.
#pragma once

#include <optional>
#include <string>

#include "storage/base/result.h"
#include "storage/job/process_summary.h"

namespace tidemark {

/// Returns "run.tidejob/summaries/rank0-node-123.json" for "run.tidejob/rank0-node-123.tide".
std::string summary_path(const std::string& trace);

/// Reads a summary. Returns nothing if there is none, or if another version of Tidemark or a damaged disk wrote it: the
/// trace then has to be summarized again. Does not trust the file.
std::optional<ProcessSummary> read_summary(const std::string& path);

/// Writes a summary, and creates its folder. Error (environment): the folder cannot be written.
Status write_summary(const std::string& path, const ProcessSummary& summary);

}  // namespace tidemark
