// The list of all diagnoses. Each lives in a file of its own in storage/explain/diagnoses/ and says nothing where it
// does not apply.
#pragma once

#include <span>
#include <vector>

#include "storage/base/progress.h"
#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

using Findings = std::vector<Finding>;

/// Adds what it finds to `findings`.
using Diagnosis = void (*)(const AnalysisContext& context, const Words& words, Findings& findings, Progress& progress);

/// In no order that matters: findings are sorted afterwards.
std::span<const Diagnosis> all_diagnoses();

}  // namespace tidemark
