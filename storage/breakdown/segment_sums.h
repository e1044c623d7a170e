// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The sums over all segments, after any event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/trace/vocabulary.h"

namespace tidemark {

/// Sums over all segments. Adjacent pieces of expandable memory with the same owner count as one segment.
struct SegmentSums {
    int64_t reserved = 0;
    int64_t cached = 0, cached_segments = 0;         ///< default pool, without blocks
    int64_t private_free = 0, private_segments = 0;  ///< free bytes in private pools, and segments that contain them
    int64_t partial_segments = 0;                    ///< default pool, with both blocks and free bytes
    bool operator==(const SegmentSums&) const = default;
};

/// The sums of every state. Stores differences: a few bytes for each event that changes the sums.
class SegmentSumsHistory {
public:
    /// Appends the sums of the next state; the first call appends those before event 0.
    void append(const SegmentSums& sums);
    /// Returns the sums after the first n events. Requires n < number of states. Thread: any. Adds up the changes of at
    /// most 63 events.
    SegmentSums at(EventNumber n) const;

private:
    struct Checkpoint {
        SegmentSums sums;
        size_t changes = 0;  ///< position of the later changes in changes_
    };

    std::vector<Checkpoint> checkpoints_;  ///< every 64th state
    std::vector<uint8_t> changes_;         ///< per state with other sums: its distance, the fields, their differences
    SegmentSums last_;
    EventNumber states_ = 0;
};

}  // namespace tidemark
