// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What the allocator's reserved memory consists of, after any event.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

/// Sums over blocks.
struct BlockSums {
    int64_t requested = 0, rounding = 0, blocks = 0;  ///< allocated ones
    int64_t pending = 0, pending_blocks = 0;          ///< freed by the program, still used by a stream

    int64_t active() const { return requested + rounding + pending; }
};

/// Sums over segments; touching pieces of expandable memory that agree count as one.
struct SegmentSums {
    int64_t reserved = 0;
    int64_t cached = 0, cached_segments = 0;         ///< default pool, without any block
    int64_t private_free = 0, private_segments = 0;  ///< free bytes in private pools, and segments that have some
    int64_t partial_segments = 0;                    ///< default pool, with blocks and free bytes
    bool operator==(const SegmentSums&) const = default;
};

/// Made by one walk over the events. Keeps a reference to the device.
class AllocatorComponents {
public:
    AllocatorComponents(const Trace& trace, const DeviceHistory& device);

    /// In the state after the first n events. Any thread; replays at most 63 events.
    BlockSums blocks(EventNumber n) const;
    SegmentSums segments(EventNumber n) const;

private:
    const DeviceHistory& device_;
    std::vector<BlockSums> checkpoints_;    ///< every 64th state
    std::vector<EventNumber> change_at_;    ///< states from which on the sums beside hold
    std::vector<SegmentSums> change_sums_;  ///< few: most events change blocks within a segment
};

}  // namespace tidemark
