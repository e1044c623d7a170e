// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/explained_memory.h"

#include <algorithm>

namespace tidemark {
namespace {

/// Fewer bytes do not explain the figure of nvidia-smi.
constexpr int64_t least_explaining_bytes = 1 << 20;

/// Returns whether the finding describes how memory is used, not why there is so much of it.
bool only_describes(FindingKind kind) { return kind == FindingKind::steady || kind == FindingKind::block_reuse; }

}  // namespace

bool is_memory_explained(const Findings& findings) {
    return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
        const bool is_small_pattern = finding.severity == Severity::pattern && finding.bytes < least_explaining_bytes;
        return finding.severity < Severity::background && !only_describes(finding.kind) && !is_small_pattern;
    });
}

}  // namespace tidemark
