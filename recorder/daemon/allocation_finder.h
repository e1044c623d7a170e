// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Finds the allocations that messages about the graph name, on any device.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "recorder/daemon/device_track.h"

namespace tidemark::recorder {

class AllocationFinder {
public:
    /// `track`: returns the track of a device, which it creates if it is new; nullptr for a device that the trace
    /// leaves out.
    explicit AllocationFinder(std::function<DeviceTrack*(uint32_t)> track) : track_(std::move(track)) {}

    /// Returns the row id of the allocation; no_allocation_row: no GPU memory, or unknown. Returns nothing if the
    /// device's track answers later.
    std::optional<int64_t> find(uint8_t device, uint64_t address, uint64_t sequence, const MemoryTicket& ticket);
    /// Counts an answer that a track gave later.
    void count_answer(const MemoryAnswer& answer) { not_found_ += answer.allocation == no_allocation_row; }

    /// Returns how many addresses on a GPU had no known allocation.
    int64_t not_found() const { return not_found_; }

private:
    std::function<DeviceTrack*(uint32_t)> track_;
    int64_t not_found_ = 0;
};

/// Queues rows in order of arrival until their allocations are known. A ticket is the number of a row.
template <class Row>
class AwaitingMemory {
public:
    struct Entry {
        Row row;
        uint32_t commit = 0;  ///< number of the last commit before it arrived
        bool is_answered = false;
        int64_t allocation = no_allocation_row;
    };

    uint64_t next_ticket() const { return first_ + entries_.size(); }
    /// Adds a row. `allocation`: nothing if the track answers later.
    void push(Row row, uint32_t commit, std::optional<int64_t> allocation) {
        entries_.push_back({std::move(row), commit, allocation.has_value(), allocation.value_or(no_allocation_row)});
    }
    /// Sets the allocation of the row with this ticket.
    void answer(uint64_t ticket, int64_t allocation) {
        if (ticket - first_ < entries_.size()) {
            entries_[ticket - first_].allocation = allocation;
            entries_[ticket - first_].is_answered = true;
        }
    }
    bool empty() const { return entries_.empty(); }
    size_t size() const { return entries_.size(); }
    const Entry& front() const { return entries_.front(); }
    void pop() {
        entries_.pop_front();
        ++first_;
    }

private:
    uint64_t first_ = 0;
    std::deque<Entry> entries_;
};

}  // namespace tidemark::recorder
