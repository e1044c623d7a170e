// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// What was there before the first event of a snapshot's history.
//
// A history that lost its beginning gets its start state from its end: a block that is freed but never allocated, or
// that is there at the end without having been allocated, was there before the first event.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/allocator/event_folder.h"
#include "storage/import/snapshot.h"

namespace tidemark {

/// The events of one device, and its segments in the state at their end.
struct DeviceSnapshot {
    std::span<const SnapshotEvent> events;
    std::vector<const SnapshotSegment*> final_segments;
    bool has_private_pools = false;
};

struct HistoryStart {
    std::vector<StartSegment> segments;  ///< by address
    std::vector<StartBlock> blocks;      ///< by address, at most one at each
    int64_t inconsistent = 0;            ///< events and blocks that contradict each other
    int64_t guessed_blocks = 0;          ///< blocks whose size did not show; each may be up to 1 MiB larger
    int64_t guessed_bytes = 0;           ///< how much larger those of them may be that were freed
};

/// Walks the events once forward for blocks and once backward for segments.
HistoryStart find_history_start(const DeviceSnapshot& device, const AllocatorSettings& settings);

/// Whether the event says which pool its memory belongs to (PyTorch does from 2.12 on).
bool is_pool_known(const DeviceSnapshot& device, const SnapshotEvent& event);

}  // namespace tidemark
