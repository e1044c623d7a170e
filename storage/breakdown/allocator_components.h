// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The components of the allocator's reserved memory, after any event.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/breakdown/segment_sums.h"
#include "storage/replay/time_point.h"
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

    /// Returns the sums at a point in time. Within a repeated step, they are those of the state in which it begins,
    /// changed as the step that it repeats changed them. Thread: any. Replays at most 63 events of a state.
    BlockSums blocks(const TimePoint& point) const;
    SegmentSums segments(const TimePoint& point) const;

private:
    BlockSums blocks_after(EventNumber n) const;

    const DeviceHistory& device_;
    std::vector<BlockSums> checkpoints_;  ///< every 64th state
    SegmentSumsHistory segments_;
};

}  // namespace tidemark
