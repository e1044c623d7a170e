// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The bytes by group of the lasting allocations of an AliveIndex, at any event: the sum over a million of them is found
// without visiting them.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/replay/alive_index.h"
#include "storage/timeline/grouping.h"

namespace tidemark {

/// A copy of what it needs. Thread: any.
class LastingBytes {
public:
    LastingBytes() = default;
    LastingBytes(const Allocations& all, const AliveIndex& live, const Grouping& grouping);

    /// Adds the bytes of each group in the state at event n to sums[group]; nothing in states without lasting memory.
    void add_at(EventNumber n, int64_t* sums) const;

private:
    /// A group gains or loses bytes in all states after an event.
    struct Change {
        EventNumber event;
        uint16_t group;
        int64_t bytes;
    };

    void sum_up();

    size_t groups_ = 0;
    EventNumber end_ = never;
    std::vector<Change> changes_;  ///< by event
    std::vector<int64_t> sums_;    ///< by group, before every so many changes
};

}  // namespace tidemark
