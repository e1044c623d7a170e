// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gui/graph/repeated_runs.h"

#include <algorithm>

namespace tidemark::gui {

namespace {

/// Returns how often the `length` elements from `first` repeat in a row.
uint32_t times_in_a_row(std::span<const uint64_t> keys, uint32_t first, uint32_t length) {
    uint32_t same = 0;
    while (first + length + same < keys.size() && keys[first + same] == keys[first + length + same]) {
        ++same;
    }
    return 1 + same / length;
}

}  // namespace

std::vector<Run> repeated_runs(std::span<const uint64_t> keys, uint32_t longest, uint32_t fewest) {
    std::vector<Run> runs;
    const auto count = static_cast<uint32_t>(keys.size());
    for (uint32_t at = 0; at < count;) {
        Run best{at, 1, 1};
        for (uint32_t length = 1; length <= longest && at + length * fewest <= count; ++length) {
            const uint32_t times = times_in_a_row(keys, at, length);
            if (times >= fewest && times * length > best.times * best.length) {
                best = {at, length, times};
            }
        }
        if (best.times == 1 && !runs.empty() && runs.back().times == 1) {
            ++runs.back().length;
        } else {
            runs.push_back(best);
        }
        at += best.length * best.times;
    }
    return runs;
}

}  // namespace tidemark::gui
