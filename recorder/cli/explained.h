// The explanation of a trace's devices, for commands.
#pragma once

#include <memory>
#include <vector>

#include "recorder/cli/moment_options.h"
#include "storage/explain/explain.h"

namespace tidemark::cli {

/// Everything about each chosen device. Its moment is the case's own: options.at is not used.
Result<std::vector<std::unique_ptr<const Case>>> open_cases(const MomentOptions& options, Progress& progress);

struct Explained {
    std::unique_ptr<const Case> of;
    Explanation explanation;
};
/// One per chosen device; never empty.
Result<std::vector<Explained>> explain_devices(const MomentOptions& options, const Words& words, Progress& progress);

}  // namespace tidemark::cli
