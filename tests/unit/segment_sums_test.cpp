// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The history of segment sums returns what was appended, for every state.
#include "storage/breakdown/segment_sums.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace tidemark {
namespace {

void expect_same(const std::vector<SegmentSums>& states) {
    SegmentSumsHistory history;
    for (const SegmentSums& sums : states) {
        history.append(sums);
    }
    for (size_t n = 0; n < states.size(); ++n) {
        EXPECT_EQ(history.at(static_cast<EventNumber>(n)), states[n]) << n;
    }
}

TEST(SegmentSumsHistory, ReturnsEveryState) {
    std::mt19937_64 random(7);
    for (const size_t count : {1, 63, 64, 65, 128, 1000}) {
        std::vector<SegmentSums> states(count);
        for (size_t n = 1; n < count; ++n) {
            states[n] = states[n - 1];
            if (random() % 3 == 0) {
                states[n].reserved += static_cast<int64_t>(random() % 2001) - 1000;
                states[n].cached = static_cast<int64_t>(random() >> (random() % 60 + 1));
                states[n].partial_segments += static_cast<int64_t>(random() % 3) - 1;
            }
            states[n].private_free = random() % 50 == 0 ? 1 << 20 : states[n].private_free;
        }
        expect_same(states);
    }
}

TEST(SegmentSumsHistory, KeepsTheLargestDifferences) {
    constexpr int64_t least = std::numeric_limits<int64_t>::min() / 2, most = std::numeric_limits<int64_t>::max() / 2;
    std::vector<SegmentSums> states(4);
    states[1].reserved = most;
    states[2].reserved = least;
    states[3].private_segments = -1;
    expect_same(states);
}

}  // namespace
}  // namespace tidemark
