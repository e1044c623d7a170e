// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The explanation of the devices of a trace, for commands.
#pragma once

#include <string>
#include <vector>

#include "recorder/cli/time_point_options.h"
#include "storage/explain/explained_devices.h"

namespace tidemark::cli {

/// Explains each selected device. The result is never empty. If `options.at` is empty, the analysis selects the point
/// in time. `from`: the time point from which iterations count; "": the begin. Errors: those of open_input(), no such
/// device or time point, `from` not before `at`, canceled.
Result<std::vector<Explained>> explain_devices(const TimePointOptions& options, const std::string& from,
                                               const Words& words, Progress& progress);

}  // namespace tidemark::cli
