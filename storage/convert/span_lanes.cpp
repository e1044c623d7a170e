// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "storage/convert/span_lanes.h"

#include <algorithm>

namespace tidemark {
namespace {

/// Perfetto reads times as floating-point µs, which are up to 2 ns off after months, and drops spans that overlap.
constexpr int64_t slack = 10;
/// Perfetto drops what is nested deeper than some 500 levels, and nobody reads as many rows.
constexpr size_t deepest = 40;

}  // namespace

SpanLanes::Place SpanLanes::place(int64_t start, int64_t end) {
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
        auto& open = lanes_[lane];
        while (!open.empty() && open.back().end <= start) {
            open.pop_back();
        }
        if (open.empty() || (end <= open.back().end && open.size() < deepest)) {
            const int64_t limit = open.empty() ? end : open.back().drawn_end;
            open.push_back({end, std::max(start, std::min(end, limit) - slack)});
            return {static_cast<int64_t>(lane), open.back().drawn_end};
        }
    }
    lanes_.push_back({{end, std::max(start, end - slack)}});
    return {count() - 1, lanes_.back().back().drawn_end};
}

}  // namespace tidemark
