// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

#include "recorder/daemon/event_queue.h"

#include <algorithm>

namespace tidemark::recorder {

namespace {

bool later(const QueuedEvent& a, const QueuedEvent& b) { return a.record.event.sequence > b.record.event.sequence; }

}  // namespace

bool EventQueue::push(const QueuedEvent& event) {
    if (event.record.event.sequence < next_) {
        return false;
    }
    heap_.push_back(event);
    std::push_heap(heap_.begin(), heap_.end(), later);
    return true;
}

const QueuedEvent* EventQueue::front() const {
    return !heap_.empty() && first_pending() == next_ ? &heap_.front() : nullptr;
}

void EventQueue::pop() {
    ++next_;
    // Drops duplicates of a sequence number with the first one.
    while (!heap_.empty() && first_pending() < next_) {
        drop_first();
    }
}

void EventQueue::drop_first() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
}

}  // namespace tidemark::recorder
