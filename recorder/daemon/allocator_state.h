// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// The allocator's state as PyTorch reports it or as the replay computes it, and the differences of two states.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/allocator/block_map.h"
#include "storage/trace/vocabulary.h"

namespace tidemark::recorder {

/// Segments and blocks in use after some of a device's events.
struct AllocatorState {
    struct Segment {
        uint64_t size = 0;
        SegmentOwner owner;
        bool operator==(const Segment&) const = default;
    };
    struct Block {
        uint64_t size = 0, requested = 0;
        bool is_pending = false;
        bool operator==(const Block&) const = default;
    };
    uint64_t events_before = 0;
    std::map<uint64_t, Segment> segments;  ///< by address
    std::map<uint64_t, Block> blocks;

    static AllocatorState of(const BlockMap& map);
    /// Merges expandable memory into one segment per contiguous range.
    void join_expandable();
};

/// The part of an event that changes the state.
struct StateChange {
    Action action = Action::unknown;
    uint64_t address = 0, size = 0, requested = 0;
    SegmentOwner owner;
};

/// Restores the state before the event.
void undo(AllocatorState& state, const StateChange& change);

struct StateDifference {
    int64_t segments = 0, blocks = 0;  ///< number of addresses that differ
    std::string example;               ///< describes the first one
    bool any() const { return segments + blocks > 0; }
};
/// Compares two states after both had their expandable segments merged.
StateDifference difference(const AllocatorState& reported, const AllocatorState& replayed);

}  // namespace tidemark::recorder
