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
/// Explains each selected device; never empty. The analysis selects the point in time: options.at is not used.
Result<std::vector<Explained>> explain_devices(const TimePointOptions& options, const Words& words, Progress& progress);

}  // namespace tidemark::cli
