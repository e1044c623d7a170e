// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Private pools of the allocator, used by CUDA graphs and compiled code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "storage/explain/analysis_context.h"
#include "storage/explain/finding.h"
#include "storage/text/words.h"

namespace tidemark {

/// The segments of all private pools of a device.
struct PrivatePools {
    std::vector<const Segment*> now;    ///< alive at the context's time point, by age
    std::map<uint32_t, int64_t> pools;  ///< position in Trace::pools -> bytes of its segments in `now`
    int64_t bytes = 0;                  ///< of `now`
    Trend trend;                        ///< of the bytes at the ends of iterations

    bool grow() const { return trend.shape == Shape::rising && !now.empty(); }
};

/// Fewer bytes need no explanation.
constexpr int64_t least_private_bytes = 1 << 20;

bool is_private(const AnalysisContext& context, const Segment& segment);
PrivatePools find_private_pools(const AnalysisContext& context);

/// Sets the parts that all findings about private pools share: bytes, pools, the line of the newest segment, the
/// referrer of the largest tensor in a pool. Requires a segment in `found.now`.
void describe_private_pools(Finding& finding, const AnalysisContext& context, const PrivatePools& found,
                            const Words& words);
/// Adds evidence: the newest segment, and the free part of the pools.
void add_pool_evidence(Finding& finding, const AnalysisContext& context, const PrivatePools& found, const Words& words);
/// Recommends one pool for all graphs.
Fix shared_pool_fix(const Words& words);

}  // namespace tidemark
