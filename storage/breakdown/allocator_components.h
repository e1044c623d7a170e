// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The components of the allocator's reserved memory, after any event.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/breakdown/segment_sums.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// Sums over all blocks.
struct BlockSums {
    int64_t requested = 0, rounding = 0, blocks = 0;  ///< of allocated blocks
    int64_t pending = 0, pending_blocks = 0;          ///< freed by the program, still used by a stream

    int64_t active() const { return requested + rounding + pending; }
};

/// Built by one pass over the events. Keeps a reference to the device.
class AllocatorComponents {
public:
    AllocatorComponents(const Trace& trace, const DeviceHistory& device);

    /// Returns the sums in the state after the first n events. Thread: any. Replays at most 63 events.
    BlockSums blocks(EventNumber n) const;
    SegmentSums segments(EventNumber n) const { return segments_.at(n); }

private:
    const DeviceHistory& device_;
    std::vector<BlockSums> checkpoints_;  ///< every 64th state
    SegmentSumsHistory segments_;
};

}  // namespace tidemark
