// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Diagnoses. Each has one descriptor in a file of its own, diagnoses/NAME.cpp, and a line in finding_kinds.h.
#pragma once

#include <span>
#include <vector>

#include "storage/base/progress.h"
#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

using Findings = std::vector<Finding>;

/// Phases run one after another. A diagnosis reads the findings of earlier phases only, so the order within a phase
/// has no effect.
enum class DiagnosisPhase : uint8_t {
    observation,  ///< reads the trace alone
    comparison,   ///< also reads the findings of observations: adds to one, or yields to one
    conclusion,   ///< checks whether the earlier phases have explained the memory
    remainder,    ///< explains memory only if no earlier phase did
};

/// The programs to which a diagnosis applies.
enum class DiagnosisScope : uint8_t {
    pytorch,            ///< it describes tensors, or the work of PyTorch
    caching_allocator,  ///< it describes segments of PyTorch's caching allocator, or memory outside it
    any_program,
};

/// Describes one diagnosis as data, so that the list, the documentation and the tests can read it.
struct Diagnosis {
    FindingKind id;     ///< the finding that it reports
    Severity severity;  ///< of that finding; some diagnoses adjust it to the trace
    DiagnosisPhase phase;
    /// Appends its findings to `findings`; appends nothing if it does not apply. `earlier`: the findings of the earlier
    /// phases.
    void (*run)(const AnalysisContext& context, const Findings& earlier, const Words& words, Findings& findings,
                Progress& progress);
    DiagnosisScope scope = DiagnosisScope::pytorch;

    bool applies_to(const AnalysisContext& context) const;
    /// Returns a finding with this kind and severity, and no other data.
    Finding new_finding() const;
};

namespace diagnoses {

/// Passes each leak suspect to the classifiers of growth/.
extern const Diagnosis growth;

#define TIDEMARK_DIAGNOSIS(name, word) extern const Diagnosis name;
TIDEMARK_FINDING_KINDS(TIDEMARK_NO_KIND, TIDEMARK_DIAGNOSIS, TIDEMARK_DIAGNOSIS)
#undef TIDEMARK_DIAGNOSIS

}  // namespace diagnoses

/// Returns all diagnoses, sorted by phase.
std::span<const Diagnosis* const> all_diagnoses();

/// Runs all diagnoses phase by phase and returns their findings, in the order of all_diagnoses(). Returns the findings
/// so far if `progress` is canceled.
Findings run_diagnoses(const AnalysisContext& context, const Words& words, Progress& progress);

}  // namespace tidemark
