// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Why a program left no trace.
#pragma once

#include <string>
#include <vector>

#include "recorder/cli/program.h"
#include "recorder/cli/record/recorder_home.h"
#include "recorder/cli/record/recording_session.h"
#include "storage/text/words.h"

namespace tidemark::cli {

/// Returns sentences that name the cause, as far as it is known, and the fix. `processes`: those that ran the startup
/// hook of the recorder.
std::string why_nothing_recorded(const Arguments& command, const RecorderHome& home,
                                 const std::vector<PythonProcess>& processes, const Words& words);

}  // namespace tidemark::cli
