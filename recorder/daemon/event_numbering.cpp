// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/event_numbering.h"

#include <algorithm>

namespace tidemark::recorder {

uint64_t EventNumbering::number_of(uint64_t sequence) const {
    const auto next =
        std::partition_point(ranges_.begin(), ranges_.end(), [&](const Range& range) { return range.end <= sequence; });
    if (next != ranges_.end()) {
        sequence = std::min(sequence, next->begin);
    }
    return next == ranges_.begin() ? sequence : sequence - std::prev(next)->left_out;
}

void EventNumbering::leave_out(uint64_t end, uint64_t count) {
    if (count > 0) {
        ranges_.push_back({end - count, end, left_out() + count});
    }
}

}  // namespace tidemark::recorder
