// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What diff prints about two runs of a job.
#pragma once

#include <string>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/text/words.h"

namespace tidemark::cli {

/// Prints each rank beside the same rank of the other run, and the allocation sites of the rank that changed most.
/// `limit`: of the sites; 0 for all. `format`: "text" or "json".
Status print_job_diff(const std::string& a, const std::string& b, size_t limit, const std::string& format,
                      const Words& words, Progress& progress);

}  // namespace tidemark::cli
