// One device's events, put back into their order: they come from many rings and are numbered without gaps.
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
    /// False: its number has been passed or is there already.
    bool push(const QueuedEvent& event);
    /// The event whose turn it is; nullptr: not there yet.
    const QueuedEvent* front() const;
    void pop();

    uint64_t next() const { return next_; }
    size_t pending() const { return heap_.size(); }
    /// The lowest number that waits. Only while some do.
    uint64_t first_pending() const { return heap_.front().record.event.sequence; }
    /// Forgets the first that waits.
    void drop_first();
    /// Gives up what lies before the first that waits.
    void skip_gap() { next_ = first_pending(); }

private:
    uint64_t next_ = 0;
    std::vector<QueuedEvent> heap_;  ///< lowest number in front
};

}  // namespace tidemark::recorder
