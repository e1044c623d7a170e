// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Leak suspects: memory that grows from iteration to iteration. The first classifier that recognizes the cause reports
// it.
#include "storage/explain/diagnoses.h"
#include "storage/explain/growth/suspect_classifier.h"
#include "storage/explain/private_pools.h"

namespace tidemark {
namespace {

/// Memory in private pools is reported by cuda_graph_pools_grow.
bool lies_in_private_pool(const AnalysisContext& context, const LeakSuspect& suspect) {
    const uint32_t segment = context.device().allocations.segment[suspect.example.index];
    return segment != no_segment && is_private(context, context.device().segments[segment]);
}

void run(const AnalysisContext& context, const Findings&, const Words& words, Findings& findings, Progress&) {
    for (const LeakSuspect& suspect : context.suspects()) {
        if (lies_in_private_pool(context, suspect)) {
            continue;
        }
        if (std::optional<Finding> finding = classify_suspect(context, suspect, words)) {
            findings.push_back(std::move(*finding));
        }
    }
}

}  // namespace

const Diagnosis diagnoses::growth{FindingKind::unexplained_growth, Severity::leak, DiagnosisPhase::observation, run};

}  // namespace tidemark
