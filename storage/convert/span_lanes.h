// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Distributes spans of time over as few tracks as a simple rule needs, so that on one track spans contain one another
// or do not overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace tidemark {

/// Takes spans by their start; of those with one start, the longest first. A span goes to the first lane where it fits.
/// Times are in ns.
class SpanLanes {
public:
    struct Place {
        int64_t lane = 0;  ///< from 0
        int64_t end = 0;   ///< where to end the span: at most half a µs early, which keeps spans apart in viewers
    };
    Place place(int64_t start, int64_t end);
    int64_t count() const { return static_cast<int64_t>(lanes_.size()); }

private:
    struct Open {
        int64_t end = 0, drawn_end = 0;
    };
    std::vector<std::vector<Open>> lanes_;  ///< the spans that are open, the outermost first
};

}  // namespace tidemark
