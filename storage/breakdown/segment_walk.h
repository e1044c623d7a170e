// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Visits the events of a device and tracks how many bytes of each range of reserved memory are used by blocks.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "storage/breakdown/segment_sums.h"
#include "storage/trace/trace.h"

namespace tidemark {

class SegmentWalk {
public:
    /// Starts in the state before event 0.
    SegmentWalk(const Trace& trace, const DeviceHistory& device);

    /// Applies one event. Events must be passed in order.
    void apply(EventNumber event);
    const SegmentSums& sums() const { return sums_; }

private:
    /// A segment, or adjacent pieces of expandable memory that act as one segment. By address.
    struct Run {
        uint64_t end = 0, used = 0;
        uint32_t piece = 0;  ///< one of its pieces
    };
    using Runs = std::map<uint64_t, Run>;

    void add_piece(uint32_t piece);
    void remove_piece(uint32_t piece);
    void add_block(AllocationIndex a);
    void remove_block(AllocationIndex a);
    Runs::iterator find(uint64_t address);
    bool join(const Run& a, const Run& b) const;
    uint64_t used_between(uint64_t from, uint64_t to) const;
    void count(const Runs::value_type& run, int64_t sign);
    void put(uint64_t address, const Run& run);
    Run take(Runs::iterator at);

    const Trace& trace_;
    const DeviceHistory& device_;
    Runs runs_;
    std::map<uint64_t, uint64_t> expandable_blocks_;  ///< sizes by address: needed when a run is split
    std::vector<uint32_t> by_free_event_;             ///< pieces
    size_t next_piece_ = 0, next_freed_ = 0;
    SegmentSums sums_;
};

}  // namespace tidemark
