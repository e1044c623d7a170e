// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The explanations of the devices of a trace, in the order of reports.
#pragma once

#include <memory>
#include <vector>

#include "storage/base/progress.h"
#include "storage/base/result.h"
#include "storage/explain/analysis_context.h"
#include "storage/explain/explanation.h"
#include "storage/text/words.h"

namespace tidemark {

using Contexts = std::vector<std::shared_ptr<const AnalysisContext>>;

struct Explained {
    std::shared_ptr<const AnalysisContext> context;
    Explanation explanation;
};

/// Explains each device: first those whose work an out-of-memory error ended, then the device that did most. Error:
/// canceled.
Result<std::vector<Explained>> explain_devices(Contexts contexts, const Words& words, Progress& progress);

}  // namespace tidemark
