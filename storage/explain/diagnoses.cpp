// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/diagnoses.h"

#include <algorithm>
#include <iterator>

namespace tidemark {

std::span<const Diagnosis* const> all_diagnoses() {
    static const std::vector<const Diagnosis*> sorted = [] {
#define TIDEMARK_DIAGNOSIS(name, word) &diagnoses::name,
        std::vector<const Diagnosis*> list{
            &diagnoses::growth, TIDEMARK_FINDING_KINDS(TIDEMARK_NO_KIND, TIDEMARK_DIAGNOSIS, TIDEMARK_DIAGNOSIS)};
#undef TIDEMARK_DIAGNOSIS
        std::stable_sort(list.begin(), list.end(),
                         [](const Diagnosis* a, const Diagnosis* b) { return a->phase < b->phase; });
        return list;
    }();
    return sorted;
}

bool Diagnosis::applies_to(const AnalysisContext& context) const {
    switch (scope) {
        case DiagnosisScope::any_program: return true;
        case DiagnosisScope::caching_allocator: return context.trace().event_source == EventSource::caching_allocator;
        case DiagnosisScope::pytorch: return context.has_pytorch();
    }
    return false;
}

Finding Diagnosis::new_finding() const {
    Finding finding;
    finding.kind = id;
    finding.severity = severity;
    return finding;
}

Findings run_diagnoses(const AnalysisContext& context, const Words& words, Progress& progress) {
    Findings earlier, of_phase;
    DiagnosisPhase phase = DiagnosisPhase::observation;
    for (const Diagnosis* diagnosis : all_diagnoses()) {
        if (progress.canceled) {
            break;
        }
        if (diagnosis->phase != phase) {
            std::move(of_phase.begin(), of_phase.end(), std::back_inserter(earlier));
            of_phase.clear();
            phase = diagnosis->phase;
        }
        if (diagnosis->applies_to(context)) {
            diagnosis->run(context, earlier, words, of_phase, progress);
        }
    }
    std::move(of_phase.begin(), of_phase.end(), std::back_inserter(earlier));
    return earlier;
}

}  // namespace tidemark
