// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/finding.h"

#include <algorithm>
#include <array>

#include "storage/explain/explanation.h"

namespace tidemark {
namespace {

#define TIDEMARK_WORD(name, word) word,
constexpr std::array<std::string_view, finding_kind_count> kinds{
    TIDEMARK_FINDING_KINDS(TIDEMARK_WORD, TIDEMARK_WORD, TIDEMARK_WORD)};
#undef TIDEMARK_WORD
constexpr std::array<std::string_view, 5> severities{"leak", "failure", "waste", "pattern", "background"};
constexpr std::array<std::string_view, 3> confidences{"certain", "likely", "possible"};
constexpr std::array<std::string_view, 5> retention_steps{"reference", "node", "saved-tensor", "allocation", "skipped"};
constexpr std::array<std::string_view, 4> run_trends{"grows", "out-of-memory", "steady", "too-short"};

}  // namespace

std::string_view severity_word(Severity severity) { return severities[static_cast<size_t>(severity)]; }
std::string_view finding_word(FindingKind kind) { return kinds[static_cast<size_t>(kind)]; }
std::string_view confidence_word(Confidence confidence) { return confidences[static_cast<size_t>(confidence)]; }
std::string_view retention_step_word(RetentionStep::Kind kind) { return retention_steps[static_cast<size_t>(kind)]; }
std::string_view run_trend_word(RunTrend run_trend) { return run_trends[static_cast<size_t>(run_trend)]; }

std::optional<FindingKind> finding_from_word(std::string_view word) {
    const auto found = std::find(kinds.begin(), kinds.end(), word);
    return found == kinds.end() ? std::nullopt : std::optional(static_cast<FindingKind>(found - kinds.begin()));
}

int64_t largest_bytes(std::span<const RetentionStep> path) {
    int64_t largest = 0;
    for (const RetentionStep& step : path) {
        largest = std::max(largest, step.bytes.value_or(0));
    }
    return largest;
}

Evidence evidence_of(const Finding& finding, const RetentionStep& step) {
    Evidence evidence;
    evidence.text = step.text;
    evidence.event = finding.memory.event;
    evidence.allocation = step.allocation;
    evidence.node = step.node;
    return evidence;
}

const Finding* find_finding(std::span<const Finding> findings, FindingKind kind) {
    const auto found =
        std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.kind == kind; });
    return found == findings.end() ? nullptr : &*found;
}

bool is_gpu_leak(const Finding& finding) {
    return finding.severity == Severity::leak && finding.kind != FindingKind::pinned_memory_growth;
}

bool is_slow_growth(const Finding& finding) {
    return finding.severity == Severity::pattern && finding.per_iteration.value_or(0) > 0;
}

}  // namespace tidemark
