// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The explanation of the devices of a trace, for commands.
#pragma once

#include <memory>
#include <vector>

#include "recorder/cli/time_point_options.h"
#include "storage/explain/explain.h"

namespace tidemark::cli {

struct Explained {
    std::unique_ptr<const AnalysisContext> context;
    Explanation explanation;
};
/// Explains each selected device. The result is never empty. Ignores options.at, since the analysis selects the point
/// in time. Errors: those of open_input(), no such device, canceled.
Result<std::vector<Explained>> explain_devices(const TimePointOptions& options, const Words& words, Progress& progress);

}  // namespace tidemark::cli
