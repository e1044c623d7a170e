// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Finds repetitions in a sequence: abcabcabc is three times abc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tidemark::gui {

/// Elements [first, first + length * times) of a sequence; times = 1 without a repetition.
struct Run {
    uint32_t first = 0, length = 1, times = 1;
};

/// Returns runs that together are the whole sequence, in order. A repeated part has at most `longest` elements and at
/// least `fewest` repetitions.
std::vector<Run> repeated_runs(std::span<const uint64_t> keys, uint32_t longest = 48, uint32_t fewest = 3);

}  // namespace tidemark::gui
