// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/event_numbering.h"

#include <algorithm>

namespace tidemark::recorder {

namespace {

constexpr size_t most_ranges = 1 << 16;

}  // namespace

uint64_t EventNumbering::number_of(uint64_t sequence) const {
    const auto next =
        std::partition_point(ranges_.begin(), ranges_.end(), [&](const Range& range) { return range.end <= sequence; });
    if (next != ranges_.end()) {
        sequence = std::min(sequence, next->begin);
    }
    const uint64_t left_out = next == ranges_.begin() ? left_out_before_ : std::prev(next)->left_out;
    return sequence - std::min(sequence, left_out);
}

void EventNumbering::leave_out(uint64_t end, uint64_t count) {
    if (count > 0) {
        push({end - count, end, left_out() + count});
    }
}

void EventNumbering::add(uint64_t at, uint64_t count) {
    if (count > 0) {
        push({at, at, left_out() - count});
    }
}

void EventNumbering::push(const Range& range) {
    if (!ranges_.empty() && ranges_.back().end == range.begin && ranges_.back().begin < range.begin &&
        range.begin < range.end) {
        ranges_.back().end = range.end;  // nothing was written between them
        ranges_.back().left_out = range.left_out;
        return;
    }
    ranges_.push_back(range);
    if (ranges_.size() > most_ranges) {
        left_out_before_ = ranges_.front().left_out;
        ranges_.pop_front();
    }
}

}  // namespace tidemark::recorder
