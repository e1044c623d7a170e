// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/explain/leaked_memory.h"

#include <algorithm>

namespace tidemark {

std::vector<AllocationIndex> leaked_allocations(std::span<const Finding> findings) {
    std::vector<AllocationIndex> leaked;
    for (const Finding& finding : findings) {
        if (finding.severity == Severity::leak) {
            leaked.insert(leaked.end(), finding.memory.allocations.begin(), finding.memory.allocations.end());
        }
    }
    std::sort(leaked.begin(), leaked.end());
    leaked.erase(std::unique(leaked.begin(), leaked.end()), leaked.end());
    return leaked;
}

}  // namespace tidemark
