// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What commands print about a job as a whole, and how they name one of its traces.
#pragma once

#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/text/words.h"

namespace tidemark::cli {

/// Returns the trace of a rank for "run.tidejob:3"; other text unchanged. Error (usage): the job has no such trace.
Result<std::string> trace_of_rank(const std::string& text);

/// Prints the processes of a job with their nodes, steps and memory. `format`: "text" or "json".
Status print_job(const std::string& folder, const std::string& format, const Words& words, Progress& progress);

/// Prints the allocated and reserved memory of each process of a job, at its peak and at its end. `format`: "table" or
/// "json", with the keys of torch.cuda.memory_stats().
Status print_job_stats(const std::string& folder, const std::string& format, const Words& words, Progress& progress);

/// Prints the allocation sites with most memory at the ranks' peaks, with the least and the most of a rank. `limit`: 0
/// for all.
Status print_job_sites(const std::string& folder, size_t limit, const std::string& format, const Words& words,
                       Progress& progress);

}  // namespace tidemark::cli
