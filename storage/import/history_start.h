// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Derives the state before the first event of a snapshot's history.
//
// If the beginning of the history was lost, the start state follows from the events and the final state: a block that
// is freed but never allocated, or that exists at the end but was never allocated, existed before the first event.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/allocator/event_folder.h"
#include "storage/import/snapshot.h"

namespace tidemark {

/// The events of one device, and its segments in the final state.
struct DeviceSnapshot {
    std::span<const SnapshotEvent> events;
    std::vector<const SnapshotSegment*> final_segments;
    bool has_private_pools = false;
};

struct HistoryStart {
    std::vector<StartSegment> segments;  ///< by address
    std::vector<StartBlock> blocks;      ///< by address, at most one per address
    int64_t inconsistent = 0;            ///< events and blocks that contradict each other
    int64_t guessed_blocks = 0;          ///< blocks of unknown size; each may be up to 1 MiB larger
    int64_t guessed_bytes = 0;           ///< by how much the freed ones of them may be larger
};

/// Visits the events once forwards for blocks and once backwards for segments.
HistoryStart find_history_start(const DeviceSnapshot& device, const AllocatorSettings& settings);

/// Returns whether the event names the pool of its memory (PyTorch 2.12 and later).
bool is_pool_known(const DeviceSnapshot& device, const SnapshotEvent& event);

}  // namespace tidemark
