// One device's allocator, moved forward event by event from an exact start state; what happens becomes rows.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>

#include "recorder/daemon/allocator_state.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

/// An event with everything it names looked up.
struct AllocatorEvent {
    Action action = Action::unknown;
    uint8_t raw_action = 0;  ///< PyTorch's number of it
    int64_t time = 0;
    uint64_t address = 0, size = 0;
    uint32_t stream = 0, pool = 0;
    bool pool_known = true;
    StackId stack = 0;
    uint32_t origin = 0;
};

/// The time of what was there before the recording.
constexpr int64_t before_all_times = INT64_MIN;

/// Memory of the allocator came from the driver or goes back to it.
struct SegmentChange {
    bool arrived = false;
    int64_t time = 0;
    uint64_t address = 0, size = 0;
    uint32_t position = no_segment;
};

class DeviceReplay {
public:
    DeviceReplay(int device, StreamingWriter& writer, const AllocatorSettings& settings, const AllocatorState& start);

    void apply(const AllocatorEvent& event);
    /// Events that got lost: numbers without a row.
    void skip(uint64_t count);

    /// What differs from the state told for a moment up to now; nothing when that is too long ago to know.
    std::optional<StateDifference> compare(const AllocatorState& reported) const;
    /// Goes on from the told state; rows of what it has and the events did not, or the other way round, are mended.
    void adopt(const AllocatorState& reported);

    EventNumber events() const { return next_; }
    int64_t last_time() const { return last_time_; }
    EventNumber peak_event() const { return peak_event_; }
    int64_t reserved_bytes() const;
    int64_t inconsistent() const { return inconsistent_; }
    int64_t unknown_actions() const { return unknown_; }
    int64_t unknown_pools() const { return unknown_pools_; }

    /// Row id of the allocation that had the block at `address` in the state after `events` events, which are not more
    /// than events(). no_allocation_row: none had, or it ended too long ago to know.
    int64_t allocation_at(uint64_t address, EventNumber events) const;

    /// Position of the segment an address lies in, or no_segment.
    uint32_t segment_at(uint64_t address) const;
    /// Segments that came or went since the last call.
    std::vector<SegmentChange> take_segment_changes() { return std::exchange(segment_changes_, {}); }

private:
    struct Lifetime {
        StreamingWriter::LifetimeId id;
        uint64_t requested, size;
        bool is_pending;
    };
    struct EndedLifetime {
        uint64_t address;
        int64_t id;  ///< of its row
        EventNumber created, ended;
    };
    /// A row of the table segment that is still there.
    struct Piece {
        uint64_t end;
        SegmentOwner owner;
        uint32_t position;
    };
    struct LostEvents {
        EventNumber next, end;
        int64_t time;
    };
    using Pieces = std::map<uint64_t, Piece>;

    void note(const StateChange& change);
    void keep_as_other(const AllocatorEvent& event);
    void apply_alloc(const AllocatorEvent& event);
    void apply_free_request(const AllocatorEvent& event);
    void apply_free_completion(const AllocatorEvent& event);
    void apply_arrival(const AllocatorEvent& event);
    void apply_return(const AllocatorEvent& event);
    void note_peak();
    void end_lifetime(uint64_t address, const Lifetime& lifetime, EventNumber event, int64_t time);

    SegmentOwner owner_of_arrival(const AllocatorEvent& event) const;
    Pieces::const_iterator piece_covering(uint64_t address) const;
    void add_pieces(uint64_t address, uint64_t size, const SegmentOwner& owner, EventNumber event,
                    const AllocatorEvent& cause);
    bool remove_pieces(uint64_t address, uint64_t size, EventNumber event, int64_t time, StackId stack);
    void set_up(BlockMap& map, const AllocatorState& state);
    void redo(BlockMap& map, uint64_t from) const;
    void repair_segments(const AllocatorState& now);
    void repair_lifetimes(const AllocatorState& now);
    /// A number for what must have happened among the lost events, or the last event when there were none.
    std::pair<EventNumber, int64_t> lost_time_point(EventNumber after);
    bool has_lost_time_point() const;

    const int device_;
    StreamingWriter& writer_;
    const AllocatorSettings settings_;
    BlockMap map_;
    Pieces pieces_;
    std::unordered_map<uint64_t, Lifetime> lifetimes_;  ///< by address
    std::deque<EndedLifetime> ended_;               ///< the latest, by event
    EventNumber next_ = 0;
    int64_t last_time_ = 0;
    int64_t peak_bytes_ = 0;
    EventNumber peak_event_ = 0;
    std::deque<StateChange> recent_;  ///< the last events, oldest first
    std::deque<LostEvents> lost_;
    std::vector<SegmentChange> segment_changes_;
    int64_t inconsistent_ = 0, unknown_ = 0, unknown_pools_ = 0;
};

}  // namespace tidemark::recorder
