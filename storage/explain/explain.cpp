#include "storage/explain/explain.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "storage/explain/data_gaps.h"
#include "storage/explain/diagnoses.h"
#include "storage/explain/finding_parts.h"
#include "storage/explain/summary.h"

namespace tidemark {
namespace {

/// What a program did deserves to be told before what every program has, unless it is next to nothing.
constexpr int64_t too_small_to_matter = 1 << 20;
/// That nothing grows comes before a second round's peak that is a smaller part of the whole than this.
constexpr int64_t large_part_of_peak = 8;

/// Where several patterns are true at once, what explains the others is told first.
int precedence(FindingKind kind) {
    switch (kind) {
        case FindingKind::reserved_high_water: return 1;  // of a longer round that was told of
        case FindingKind::block_reuse: return 4;          // a detail of all the others
        default: return 0;
    }
}

class Order {
public:
    explicit Order(const AnalysisContext& context) : peak_(context.curves().peak(Series::allocated).max) {}

    bool operator()(const Finding& a, const Finding& b) const {
        if (a.severity == Severity::leak && b.severity == Severity::leak) {
            return a.per_iteration.value_or(0) > b.per_iteration.value_or(0);
        }
        return std::tuple(rank(a), -a.bytes) < std::tuple(rank(b), -b.bytes);
    }

private:
    std::pair<int, int> rank(const Finding& finding) const {
        const int severity = static_cast<int>(finding.severity);
        if (finding.kind == FindingKind::steady) {
            return {severity, 2};
        }
        if (finding.severity != Severity::pattern) {
            return {severity, 0};
        }
        if (finding.bytes < too_small_to_matter) {
            return {static_cast<int>(Severity::background), 1};
        }
        const bool is_small_part = finding.bytes * large_part_of_peak < peak_;
        const bool is_aside = finding.kind == FindingKind::second_iteration_peak && is_small_part;
        return {severity, is_aside ? 3 : precedence(finding.kind)};
    }

    int64_t peak_;
};

/// Titles stand alone in a list, and behind "First: " in the headline. Code and names (cuBLAS) stay as they are.
std::string capitalized(std::string text) {
    const auto end = std::find(text.begin(), text.end(), ' ');
    if (!text.empty() && std::all_of(text.begin(), end, [](char c) { return c >= 'a' && c <= 'z'; })) {
        text[0] = static_cast<char>(text[0] - 'a' + 'A');
    }
    return text;
}

}  // namespace

Explanation explain(const AnalysisContext& context, const Words& words, Progress& progress) {
    Explanation explanation;
    explanation.device = context.device().device;
    explanation.device_name = context.device().name;
    explanation.event = context.now();
    explanation.time = context.now_time();
    explanation.time_point = time_point_name(context, words);
    explanation.findings = run_diagnoses(context, words, progress);
    for (Finding& finding : explanation.findings) {
        finding.device = context.device().device;
    }
    std::stable_sort(explanation.findings.begin(), explanation.findings.end(), Order(context));
    explanation.unknowns = what_was_not_recorded(context, words);
    write_summary(context, words, explanation);
    for (Finding& finding : explanation.findings) {
        finding.title = capitalized(std::move(finding.title));
    }
    return explanation;
}

}  // namespace tidemark
