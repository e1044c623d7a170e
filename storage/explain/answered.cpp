#include "storage/explain/answered.h"

#include <algorithm>

namespace tidemark {
namespace {

/// Fewer bytes do not explain what nvidia-smi shows.
constexpr int64_t least_answer = 1 << 20;

}  // namespace

bool is_answered(const Findings& findings) {
    return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.verdict < Verdict::background && finding.kind != FindingKind::steady &&
               finding.bytes >= least_answer;
    });
}

}  // namespace tidemark
