// The explanation of a trace's devices, for commands.
#pragma once

#include <memory>
#include <vector>

#include "recorder/cli/time_point_options.h"
#include "storage/explain/explain.h"

namespace tidemark::cli {

/// Everything about each chosen device. Its moment is the case's own: options.at is not used.
Result<std::vector<std::unique_ptr<const AnalysisContext>>> open_contexts(const TimePointOptions& options, Progress& progress);

struct Explained {
    std::unique_ptr<const AnalysisContext> context;
    Explanation explanation;
};
/// One per chosen device; never empty.
Result<std::vector<Explained>> explain_devices(const TimePointOptions& options, const Words& words, Progress& progress);

}  // namespace tidemark::cli
