// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Starts the recording of a program that waits for the request.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "recorder/cli/record/recorded_programs.h"

namespace tidemark::cli {

/// Sends the request to record, waits until the recording runs, and prints where its trace is and what cannot be
/// recorded. Errors: as request_of().
Status start_recording(const RecordedProgram& program, const nlohmann::json& request, const Words& words);

}  // namespace tidemark::cli
