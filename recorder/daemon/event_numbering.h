// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Converts the allocator's sequence numbers of one device's events into event numbers of the trace.
//
// They are equal until more events are missing than a trace may leave out: a reader reserves memory for every number up
// to the last one, so it limits their count by the size of the file. Numbers beyond that limit are left out.
#pragma once

#include <cstdint>
#include <deque>

#include "storage/trace/limits.h"

namespace tidemark::recorder {

/// The numbers without an event that the trace can still have, on all devices together.
class NumberBudget {
public:
    void on_event() { left_ += numbers_per_event; }
    uint64_t left() const { return left_; }
    void take(uint64_t count) { left_ -= count; }

private:
    /// A trace without any row justifies this many: see EventNumbering in tests/recorder.
    static constexpr uint64_t numbers_of_empty_trace = 1 << 16;
    /// The rows of an event justify more than three numbers, of which one is its own.
    static constexpr uint64_t numbers_per_event = most_events_per_row - 1;

    uint64_t left_ = numbers_of_empty_trace;
};

class EventNumbering {
public:
    /// Returns the event number for a sequence number; for one that was left out, the number of the next event.
    /// Numbers of events long ago are not exact if more were left out since.
    uint64_t number_of(uint64_t sequence) const;
    /// Leaves out the `count` sequence numbers before `end`. Calls must have rising `end`.
    void leave_out(uint64_t end, uint64_t count);
    /// Adds `count` numbers before the sequence number `at`, at most as many as were left out. `at` must not be less
    /// than an earlier `at` or `end`.
    void add(uint64_t at, uint64_t count);
    uint64_t left_out() const { return ranges_.empty() ? left_out_before_ : ranges_.back().left_out; }

private:
    struct Range {
        uint64_t begin, end;
        uint64_t left_out;  ///< in this range and all before, without those that were added
    };
    void push(const Range& range);

    std::deque<Range> ranges_;      ///< the latest
    uint64_t left_out_before_ = 0;  ///< before these
};

}  // namespace tidemark::recorder
