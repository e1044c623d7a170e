// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Explanations and findings in English, and driver memory, for tests of diagnoses.
#pragma once

#include <algorithm>
#include <string>

#include "storage/explain/diagnoses.h"
#include "storage/explain/explain.h"
#include "tests/unit/run_builder.h"

namespace tidemark::test {

inline Explanation explained(const AnalysisContext& context) {
    Progress progress;
    return explain(context, Words(Language::english), progress);
}

inline Findings diagnose(const Diagnosis& diagnosis, const AnalysisContext& context, const Findings& earlier = {}) {
    Findings findings;
    Progress progress;
    diagnosis.run(context, earlier, Words(Language::english), findings, progress);
    return findings;
}

/// Returns the first finding of this kind; nullptr if there is none.
inline const Finding* find(const Explanation& explanation, FindingKind kind) {
    const auto found = std::find_if(explanation.findings.begin(), explanation.findings.end(),
                                    [&](const Finding& finding) { return finding.kind == kind; });
    return found == explanation.findings.end() ? nullptr : &*found;
}

/// Returns the words of the leaks in their order: "growing-container growing-tensor"; "" if there are none.
inline std::string leaks_of(const Explanation& explanation) {
    std::string words;
    for (const Finding& finding : explanation.findings) {
        if (finding.severity == Severity::leak) {
            words += (words.empty() ? "" : " ") + std::string(finding_word(finding.kind));
        }
    }
    return words;
}

/// Returns the sentences as one text.
inline std::string joined(const std::vector<std::string>& sentences) {
    std::string text;
    for (const std::string& sentence : sentences) {
        text += (text.empty() ? "" : " ") + sentence;
    }
    return text;
}

/// Adds driver memory.
inline void take(RunBuilder& run, DriverMemoryKind kind, int64_t bytes, int64_t time, const std::string& source = "",
                 StackId stack = 0, int device = 0) {
    DriverAllocation row;
    row.kind = kind;
    row.device = device;
    row.bytes = static_cast<uint64_t>(bytes);
    row.time = time;
    row.source = source;
    row.stack = stack;
    run.trace.driver_allocations.push_back(row);
}

}  // namespace tidemark::test
