// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Distributes spans of time over as few tracks as a simple rule needs, so that on one track spans contain one another or
// do not overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace tidemark {

/// Takes spans by their start; of those with one start, the longest first. A span goes to the first lane where it fits.
class SpanLanes {
public:
    /// Returns the lane of a span, from 0. Times are in ns.
    int64_t lane_of(int64_t start, int64_t end);
    int64_t count() const { return static_cast<int64_t>(lanes_.size()); }

private:
    std::vector<std::vector<int64_t>> lanes_;  ///< the ends of the spans that are open, the outermost first
};

}  // namespace tidemark
