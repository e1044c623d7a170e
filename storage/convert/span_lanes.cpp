// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/convert/span_lanes.h"

namespace tidemark {
namespace {

/// Perfetto reads times as floating-point µs, which are up to 2 ns off after months, and drops spans that overlap.
constexpr int64_t slack = 10;
/// Perfetto drops what is nested deeper than some 500 levels, and nobody reads as many rows.
constexpr size_t deepest = 40;

}  // namespace

int64_t SpanLanes::lane_of(int64_t start, int64_t end) {
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
        auto& open = lanes_[lane];
        while (!open.empty() && open.back() + slack <= start) {
            open.pop_back();
        }
        if (open.empty() || (end + slack <= open.back() && open.size() < deepest)) {
            open.push_back(end);
            return static_cast<int64_t>(lane);
        }
    }
    lanes_.push_back({end});
    return count() - 1;
}

}  // namespace tidemark
