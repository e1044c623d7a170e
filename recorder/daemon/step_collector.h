// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Collects the events of one device step by step, and finds the steps that repeat a recent one: the same allocations
// and frees, of the same sizes, from the same stacks, in the same order. Addresses and times may differ.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "storage/allocator/event_folder.h"

namespace tidemark::recorder {

class StepCollector {
public:
    using Clock = std::chrono::steady_clock;

    /// Adds the next event of the step. Returns false if the step has become too long to be collected: all events so
    /// far must be taken, and those that follow are not added.
    bool add(const AllocatorEvent& event);
    /// Returns whether events are added. None are before the first step has ended, and while a step is too long.
    bool is_collecting() const { return is_collecting_; }
    size_t size() const { return events_.size(); }
    /// Returns the time of the first event. Requires one.
    int64_t first_time() const { return events_.front().time; }
    /// Returns whether the events have waited so long that they should be written before the step ends: longer for one
    /// that has been like a known step so far.
    bool is_overdue(Clock::time_point now = Clock::now()) const;

    /// Ends the step at `time`. Returns the end of the step that it repeats; nothing if there is none, or if it is one
    /// of the first steps.
    std::optional<int64_t> end_step(int64_t time);
    /// Returns the events and forgets them. Taken before its end, a step repeats none.
    std::vector<AllocatorEvent> take();

private:
    struct Signature {
        uint64_t hash = 0, events = 0;
        bool is_whole = true;  ///< only allocations and frees, all of them collected
    };

    struct KnownStep {
        Signature signature;
        std::vector<uint64_t> prefixes;
        int64_t end;  ///< ns since trace start
    };

    bool is_like_known() const;

    std::vector<AllocatorEvent> events_;
    Clock::time_point since_;  ///< the first of them
    Signature step_{0, 0, false};
    std::vector<uint64_t> prefixes_;  ///< hashes of this step's beginnings, one each few events
    std::deque<KnownStep> known_;     ///< the one that occurred or was repeated last first
    int64_t steps_ = 0;
    bool is_collecting_ = false;  ///< from the end of the first step on: a program may have none
};

}  // namespace tidemark::recorder
