// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Orders one device's events by their numbers, which have no gaps. The events arrive from many rings.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/core/records.h"
#include "storage/trace/stack_table.h"

namespace tidemark::recorder {

class ThreadDefinitions;

struct QueuedEvent {
    tidemark_record record;
    const ThreadDefinitions* thread;
    StringId metadata;
};

class EventQueue {
public:
    /// Returns false if the event's number was skipped before or was popped before.
    bool push(const QueuedEvent& event);
    /// Returns the next event in order, or nullptr if it has not arrived.
    const QueuedEvent* front() const;
    void pop();

    uint64_t next() const { return next_; }
    size_t pending() const { return heap_.size(); }
    /// Returns the lowest queued number. Requires a queued event.
    uint64_t first_pending() const { return heap_.front().record.event.sequence; }
    /// Removes the queued event with the lowest number.
    void drop_first();
    /// Skips the missing events before the lowest queued one.
    void skip_gap() { next_ = first_pending(); }

private:
    uint64_t next_ = 0;
    std::vector<QueuedEvent> heap_;  ///< lowest number first
};

}  // namespace tidemark::recorder
