// The allocator's state as PyTorch told it or as events make it, and where two such states differ.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/allocator/block_map.h"
#include "storage/trace/vocabulary.h"

namespace tidemark::recorder {

/// Segments and the blocks in use, at a cut in a device's events.
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
    /// Expandable memory is one segment per contiguous range.
    void join_expandable();
};

/// One event as far as it moves the state.
struct StateChange {
    Action action = Action::unknown;
    uint64_t address = 0, size = 0, requested = 0;
    SegmentOwner owner;
};

/// Takes the event back: the state as it was before.
void undo(AllocatorState& state, const StateChange& change);

struct StateDifference {
    int64_t segments = 0, blocks = 0;
    std::string example;
    bool any() const { return segments + blocks > 0; }
};
StateDifference difference(const AllocatorState& reported, const AllocatorState& replayed);

}  // namespace tidemark::recorder
