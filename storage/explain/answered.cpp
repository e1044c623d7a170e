#include "storage/explain/answered.h"

#include <algorithm>

namespace tidemark {
namespace {

/// Fewer bytes do not explain what nvidia-smi shows.
constexpr int64_t least_answer = 1 << 20;

}  // namespace

bool is_answered(const Findings& findings) {
    return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
        const bool is_small_pattern = finding.verdict == Verdict::pattern && finding.bytes < least_answer;
        return finding.verdict < Verdict::background && finding.kind != FindingKind::steady && !is_small_pattern;
    });
}

}  // namespace tidemark
