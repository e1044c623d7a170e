// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Folds the events of one device's allocator into lifetimes of allocations and segments.
//
// The recorder folds events as they arrive; the importer folds the events of a snapshot. Both start from a known state
// and receive the result through a FoldSink. Not thread-safe. All addresses and sizes are in bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "storage/allocator/block_map.h"
#include "storage/allocator/live_allocations.h"
#include "storage/trace/trace.h"

namespace tidemark {

/// One event of an allocator, with all names resolved to indexes.
struct AllocatorEvent {
    Action action = Action::unknown;
    std::string unknown_name;  ///< the source's name of an unknown action; ignored for other actions
    int64_t time = 0;          ///< ns since trace start
    uint64_t address = 0, size = 0;
    uint32_t stream = 0, pool = 0;  ///< indexes into the trace's tables
    bool pool_known = true;
    StackId stack = 0;
    uint32_t origin = 0;
    bool is_light = false;  ///< its stack and origin are those of an event that it repeats
    /// Owner of an added segment if PyTorch's own state contains it; otherwise it is derived from the event.
    std::optional<SegmentOwner> reported_owner = std::nullopt;
};

/// Memory that existed before the first event.
struct StartSegment {
    uint64_t address = 0, size = 0;
    SegmentOwner owner;
    bool pool_known = true;
    StackId stack = 0;
};
struct StartBlock {
    uint64_t address = 0, size = 0, requested = 0;
    bool is_pending = false;
    StackId stack = 0;
};

/// Memory that is returned to the driver.
struct SegmentEnd {
    uint64_t address = 0, size = 0;
    FileEvent event = 0;
    int64_t time = 0;  ///< ns since trace start
    StackId stack = 0;
};

/// Receives the rows that a folder produces. The sink chooses the numbers of lifetimes and the positions of segments.
class FoldSink {
public:
    using LifetimeId = uint32_t;

    virtual ~FoldSink() = default;

    /// Adds an allocation. If its block is already pending in a start state, free_event is before_history.
    virtual LifetimeId created(const AllocationRow& row) = 0;
    virtual void free_requested(LifetimeId lifetime, FileEvent event, int64_t time, StackId stack) = 0;
    /// Completes a free. The allocation's id is not used again.
    virtual void free_completed(const LiveAllocation& allocation, FileEvent event, int64_t time) = 0;

    /// Returns the position of the new segment.
    virtual uint32_t segment_added(const FileSegment& segment, int64_t time) = 0;
    virtual void segment_removed(uint32_t position, const SegmentEnd& end) = 0;
    /// Returns whether segment rows can still be split after they were added.
    virtual bool can_cut_segments() const = 0;
    /// Splits a segment at an address inside it. Returns the position of the upper part, which has the same start as
    /// the lower part.
    virtual uint32_t cut_segment(uint32_t position, uint64_t address) = 0;

    /// Adds an event that is no allocation or segment event, or that refers to unknown memory.
    virtual void other_event(const FileOtherEvent& event, int64_t time, uint32_t origin) = 0;
};

class EventFolder {
public:
    /// The memory of one segment row.
    struct Piece {
        uint64_t end;
        SegmentOwner owner;
        uint32_t position;
    };
    using Pieces = std::map<uint64_t, Piece>;  ///< by address

    /// Requires that the sink outlives the folder.
    EventFolder(const AllocatorSettings& settings, FoldSink& sink) : settings_(settings), sink_(sink), map_(settings) {}

    /// Sets up the state before the first event. Both spans must be sorted by address. Call at most once, before
    /// apply().
    void start(std::span<const StartSegment> segments, std::span<const StartBlock> blocks);
    /// Folds the next event. A time earlier than the previous event's is replaced by that one, because threads take
    /// time stamps before they acquire the allocator's lock.
    void apply(const AllocatorEvent& event);
    // Steps that repeat an earlier one are not written: their events change the state, but get no numbers and no rows.
    // Until write_unwritten(), the rows show blocks of the earlier step instead of blocks of the same sizes.

    /// Applies an alloc or a free of such a step.
    void apply_unwritten(const AllocatorEvent& event);
    /// Writes the blocks of such steps that were allocated before `start`, the begin of the last one, and still exist:
    /// nothing replaces them. Their rows have the times of their events, unless a later event has a row. Returns false
    /// if the rows show more than there is; then write_unwritten() must follow.
    bool write_survivors(int64_t start);
    /// Makes the rows show the state. Must precede apply() and the repairs.
    void write_unwritten();
    /// Returns whether the block at an address has no row yet.
    bool is_unwritten(uint64_t address) const { return unwritten_.contains(address); }

    /// Skips the numbers of lost events, which have no row.
    void skip_to(FileEvent event) { next_ = event; }

    FileEvent events() const { return next_; }
    int64_t last_time() const { return last_time_; }
    /// Returns the number of events after which most bytes were allocated so far.
    FileEvent peak_event() const { return peak_event_; }
    const BlockMap& map() const { return map_; }
    const LiveAllocations& live() const { return live_; }
    /// Visits the allocations whose rows have no end, also those that ended in an unwritten step.
    template <class Visit>
    void for_each_open(Visit&& visit) const {
        for (const LiveAllocation& allocation : live_) {
            visit(allocation);
        }
        for (const auto& [address, stale] : stale_) {
            visit(stale.allocation);
        }
    }
    const Pieces& pieces() const { return pieces_; }
    /// Returns the piece that contains an address, or pieces().end().
    Pieces::const_iterator piece_covering(uint64_t address) const;
    /// Returns the position of the segment that contains an address, or no_segment.
    uint32_t segment_at(uint64_t address) const;

    int64_t inconsistent() const { return inconsistent_; }
    int64_t unknown_actions() const { return unknown_; }
    int64_t unknown_pools() const { return unknown_pools_; }

    // Repairs for a state derived from events that differs from the allocator's own state.

    /// Continues from another state. Does not change rows; the functions below do.
    void replace_map(BlockMap map) { map_ = std::move(map); }
    /// Adds rows for memory that has no row yet.
    void add_pieces(const StartSegment& memory, FileEvent event, int64_t time);
    /// Ends the rows of [address, address + size). Returns false if there are none.
    bool remove_pieces(uint64_t address, uint64_t size, FileEvent event, int64_t time, StackId stack);
    void begin_lifetime(const AllocationRow& row, bool is_pending);
    void request_free(uint64_t address, FileEvent event, int64_t time, StackId stack);
    void end_lifetime(uint64_t address, FileEvent event, int64_t time);

private:
    /// A block that was allocated in an unwritten step.
    struct Unwritten {
        AllocatorEvent allocated;
        uint64_t size;
        bool is_pending;
    };
    /// An allocation whose row does not show yet that it was freed.
    struct Stale {
        LiveAllocation allocation;
        StackId free_stack;
        bool is_complete;  ///< the free
    };

    /// By requested bytes: how many more allocations the rows show than there are.
    using Excess = std::unordered_map<uint64_t, int64_t>;

    int64_t written_at(int64_t time);
    void begin_unwritten(const Unwritten& block, int64_t time);
    void end_stale(const Stale& stale, int64_t time);
    Excess excess_without(const std::vector<Unwritten>& survivors) const;
    void end_surplus(const Unwritten& block, int64_t time);
    void write_survivor(const Unwritten& survivor, Excess& excess);
    std::map<uint64_t, Stale>::iterator stale_over(const Unwritten& block);
    std::optional<Unwritten> take_unwritten(const LiveAllocation& instead_of);
    std::vector<Unwritten> take_unwritten_before(int64_t time);
    static void sort_by_time(std::vector<Unwritten>& blocks);
    bool rows_show_too_much() const;

    void apply_alloc(const AllocatorEvent& event);
    void apply_free_request(const AllocatorEvent& event);
    void apply_free_completion(const AllocatorEvent& event);
    void apply_arrival(const AllocatorEvent& event);
    void apply_return(const AllocatorEvent& event);
    void keep_as_other(const AllocatorEvent& event);
    void note_peak(FileEvent state);
    SegmentOwner owner_of_arrival(const AllocatorEvent& event) const;

    const AllocatorSettings settings_;
    FoldSink& sink_;
    BlockMap map_;
    Pieces pieces_;
    LiveAllocations live_;
    std::unordered_map<uint64_t, Unwritten> unwritten_;  ///< by address
    std::map<uint64_t, Stale> stale_;                    ///< by address
    FileEvent next_ = 0;
    int64_t last_time_ = 0, last_written_time_ = 0;
    int64_t peak_bytes_ = 0;
    FileEvent peak_event_ = 0;
    int64_t inconsistent_ = 0, unknown_ = 0, unknown_pools_ = 0;
};

/// Adds the segments and blocks of a state to an empty map. Returns how many of them do not fit.
int64_t set_up(BlockMap& map, std::span<const StartSegment> segments, std::span<const StartBlock> blocks);

}  // namespace tidemark
