// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Replays the events of one device's allocator from an exact start state and writes the rows of the trace.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "recorder/daemon/allocator_state.h"
#include "recorder/daemon/site_labels.h"
#include "recorder/daemon/site_watch.h"
#include "storage/allocator/event_folder.h"
#include "storage/write/streaming_writer.h"

namespace tidemark::recorder {

/// The time of segments that existed before the recording.
constexpr int64_t before_all_times = INT64_MIN;

/// The allocator got a segment from the driver, or returned one.
struct SegmentChange {
    bool is_added = false;
    int64_t time = 0;  ///< ns since trace start
    uint64_t address = 0, size = 0;
    uint32_t position = no_segment;
};

/// A block of a repeated step that somebody asked for got a row, or ended without one.
struct SettledBlock {
    uint64_t address = 0;
    int64_t allocation = no_allocation_row;  ///< row id
};

/// Get the allocations of a device; nullptr: nobody does.
struct AllocationListeners {
    SiteWatch* sites = nullptr;
    SiteLabels* labels = nullptr;
};

/// Writes the rows of one device to a StreamingWriter, which must outlive it. Not thread-safe.
class DeviceReplay final : private FoldSink {
public:
    DeviceReplay(int device, StreamingWriter& writer, const AllocatorSettings& settings, const AllocatorState& start,
                 const AllocationListeners& listeners = {});
    DeviceReplay(const DeviceReplay&) = delete;
    DeviceReplay& operator=(const DeviceReplay&) = delete;

    void apply(const AllocatorEvent& event);
    /// Applies the events of a step that repeats the one that ended at `like`. Writes what the step leaves different,
    /// and counts it. Times in ns since trace start. Calls `before` with the index of each event before it applies the
    /// event.
    void apply_repeated(
        std::span<const AllocatorEvent> step, int64_t start, int64_t end, int64_t like,
        const std::function<void(size_t)>& before = [](size_t) {});
    /// Writes what repeated steps left different. Must precede every other function that changes the state.
    void end_repeats();
    /// Ends a step of which all events were applied. `is_kept`: its events stay even if the trace becomes too large.
    /// Times in ns since trace start.
    void end_step(int64_t start, int64_t end, bool is_kept);
    /// Skips the numbers of `count` lost events.
    void skip(uint64_t count);

    /// Returns the differences from the state that PyTorch reported after an earlier event; nothing when that event is
    /// too old to compare.
    std::optional<StateDifference> compare(const AllocatorState& reported) const;
    /// Continues from the reported state and repairs the rows: adds what only the state has, ends what only the rows
    /// have.
    void adopt(const AllocatorState& reported);

    FileEvent events() const { return folder_.events(); }
    int64_t last_time() const { return folder_.last_time(); }
    FileEvent peak_event() const { return folder_.peak_event(); }
    int64_t reserved_bytes() const;
    int64_t allocated_bytes() const;
    int64_t inconsistent() const { return inconsistent_ + folder_.inconsistent(); }
    int64_t unknown_actions() const { return folder_.unknown_actions(); }
    int64_t unknown_pools() const { return folder_.unknown_pools(); }

    /// Returns the row id of the allocation that had the block at `address` after `events` events.
    /// Returns no_allocation_row if none had it, or if it ended too long ago. Requires `events` <= events().
    int64_t allocation_at(uint64_t address, FileEvent events) const;
    /// Returns whether the block at `address` was allocated in a repeated step and has no row yet. If so,
    /// take_settled_blocks() will report it.
    bool await_row(uint64_t address);
    std::vector<SettledBlock> take_settled_blocks() { return std::exchange(settled_, {}); }

    /// Visits the blocks that the site watch counts.
    void for_each_block(const SiteWatch::VisitBlock& visit) const;

    /// Returns the position of the segment that contains an address, or no_segment.
    uint32_t segment_at(uint64_t address) const { return folder_.segment_at(address); }
    /// Returns the segments that were added or removed since the last call.
    std::vector<SegmentChange> take_segment_changes() { return std::exchange(segment_changes_, {}); }

private:
    struct EndedLifetime {
        uint64_t address;
        int64_t id;  ///< of its row
        FileEvent created, ended;
    };
    struct LostEvents {
        FileEvent next, end;
        int64_t time;
    };

    LifetimeId created(const AllocationRow& row) override;
    void free_requested(LifetimeId lifetime, FileEvent event, int64_t time, StackId stack) override;
    void free_completed(const LiveAllocation& allocation, FileEvent event, int64_t time) override;
    uint32_t segment_added(const FileSegment& segment, int64_t time) override;
    void segment_removed(uint32_t position, const SegmentEnd& end) override;
    bool can_cut_segments() const override { return false; }
    uint32_t cut_segment(uint32_t position, uint64_t address) override;
    void other_event(const FileOtherEvent& event, int64_t time, uint32_t origin) override;

    /// The highest bytes within a step.
    struct Peaks {
        int64_t allocated = 0, active = 0, requested = 0;
    };

    void end_part(int64_t start, int64_t end, int64_t steps, bool is_kept);
    void begin_part(int64_t time);
    void begin_repeats(int64_t start, int64_t like, const Peaks& peaks);
    bool belongs_to_repeats(int64_t like, const Peaks& peaks) const;
    void note(Peaks& peaks) const;
    void report_repeats();
    void settle(uint64_t address, int64_t row);

    StateChange change_before(const AllocatorEvent& event) const;
    void complete_after(StateChange& change) const;
    void redo(BlockMap& map, uint64_t from) const;
    void repair_segments(const AllocatorState& now);
    void end_other_lifetimes(const AllocatorState& now);
    void repair_lifetimes(const AllocatorState& now);
    /// Returns the number and time of a lost event after `after`, or those of the last event if no event was lost.
    std::pair<FileEvent, int64_t> lost_time_point(FileEvent after);
    bool has_lost_time_point() const;

    const int device_;
    StreamingWriter& writer_;
    SiteWatch* const sites_;
    SiteLabels* const labels_;
    const AllocatorSettings settings_;
    EventFolder folder_;
    std::deque<EndedLifetime> ended_;  ///< the latest, by event
    std::deque<StateChange> recent_;   ///< the last events, oldest first
    std::deque<LostEvents> lost_;
    std::vector<SegmentChange> segment_changes_;
    std::unordered_set<uint64_t> awaited_;  ///< addresses of unwritten blocks
    std::vector<SettledBlock> settled_;
    FileRepeatedSteps repeats_;  ///< the latest
    int64_t repeats_row_ = 0;
    bool can_add_repeats_ = false;  ///< to that row
    bool has_unwritten_ = false;    ///< since end_repeats()
    bool is_light_ = false;         ///< the current event belongs to a light step
    FileEvent part_event_ = 0;      ///< the first event of what end_part() ends
    int64_t part_start_ = 0;        ///< ns since trace start
    Peaks part_peaks_;
    bool is_other_event_ = false;  ///< the current event became a row of table `event` only
    int64_t inconsistent_ = 0;     ///< blocks and segments that do not fit in adopted states
};

}  // namespace tidemark::recorder
