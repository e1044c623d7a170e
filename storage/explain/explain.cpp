#include "storage/explain/explain.h"

#include <algorithm>

#include "storage/explain/diagnoses.h"
#include "storage/explain/gaps.h"
#include "storage/explain/headline.h"
#include "storage/explain/telling.h"

namespace tidemark {
namespace {

/// What a program did deserves to be told before what every program has, unless it is next to nothing.
constexpr int64_t too_small_to_matter = 1 << 20;

int rank_of(const Finding& finding) {
    const bool is_small = finding.verdict == Verdict::pattern && finding.bytes < too_small_to_matter;
    return static_cast<int>(is_small ? Verdict::background : finding.verdict) * 2 + (is_small ? 1 : 0);
}

bool comes_first(const Finding& a, const Finding& b) {
    if (rank_of(a) != rank_of(b)) {
        return rank_of(a) < rank_of(b);
    }
    if (a.verdict == Verdict::leak && a.per_round.value_or(0) != b.per_round.value_or(0)) {
        return a.per_round.value_or(0) > b.per_round.value_or(0);
    }
    return a.bytes > b.bytes;
}

}  // namespace

Explanation explain(const Case& of, const Words& words, Progress& progress) {
    Explanation explanation;
    explanation.device = of.device().device;
    explanation.device_name = of.device().name;
    explanation.event = of.now();
    explanation.time = of.now_time();
    explanation.moment = moment_name(of, words);
    for (const Diagnosis diagnose : all_diagnoses()) {
        if (progress.cancelled) {
            break;
        }
        diagnose(of, words, explanation.findings, progress);
    }
    for (Finding& finding : explanation.findings) {
        finding.device = of.device().device;
    }
    std::stable_sort(explanation.findings.begin(), explanation.findings.end(), comes_first);
    explanation.unknowns = what_was_not_recorded(of, words);
    write_headline(of, words, explanation);
    return explanation;
}

}  // namespace tidemark
