// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The components of the allocator's reserved memory, after any event.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "storage/trace/trace.h"

namespace tidemark {

/// Sums over all blocks.
struct BlockSums {
    int64_t requested = 0, rounding = 0, blocks = 0;  ///< of allocated blocks
    int64_t pending = 0, pending_blocks = 0;          ///< freed by the program, still used by a stream

    int64_t active() const { return requested + rounding + pending; }
};

/// Sums over all segments. Adjacent pieces of expandable memory with the same owner count as one segment.
struct SegmentSums {
    int64_t reserved = 0;
    int64_t cached = 0, cached_segments = 0;         ///< default pool, without blocks
    int64_t private_free = 0, private_segments = 0;  ///< free bytes in private pools, and segments that contain them
    int64_t partial_segments = 0;                    ///< default pool, with both blocks and free bytes
    bool operator==(const SegmentSums&) const = default;
};

/// Built by one pass over the events. Keeps a reference to the device.
class AllocatorComponents {
public:
    AllocatorComponents(const Trace& trace, const DeviceHistory& device);

    /// Returns the sums in the state after the first n events. Thread: any. Replays at most 63 events.
    BlockSums blocks(EventNumber n) const;
    SegmentSums segments(EventNumber n) const;

private:
    const DeviceHistory& device_;
    std::vector<BlockSums> checkpoints_;    ///< every 64th state
    std::vector<EventNumber> change_at_;    ///< first state of each entry of change_sums_
    std::vector<SegmentSums> change_sums_;  ///< few entries: most events change only blocks within a segment
};

}  // namespace tidemark
