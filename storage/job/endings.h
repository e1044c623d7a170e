// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Processes of a job that ended without reporting why.
#pragma once

#include <string>
#include <vector>

#include "storage/job/job.h"
#include "storage/text/words.h"

namespace tidemark {

/// Returns a sentence for each such process: when it ended, its last event, and which one had failed before. A process
/// that a signal ends cannot report it.
std::vector<std::string> silent_endings(const Job& job, const Words& words);

}  // namespace tidemark
