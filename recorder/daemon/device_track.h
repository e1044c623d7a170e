// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Orders the events of one device, queues them until the start state is known, and replays them. Compares the result
// with the states that PyTorch reports. With adaptive detail, it collects the events of each step and replays a step
// that repeats the one before without writing it.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "recorder/daemon/definitions.h"
#include "recorder/daemon/device_replay.h"
#include "recorder/daemon/event_numbering.h"
#include "recorder/daemon/event_queue.h"
#include "recorder/daemon/step_collector.h"
#include "recorder/daemon/tick_clock.h"

namespace tidemark::recorder {

/// Identifies the row that an answer is for. Only the asker interprets `part` and `subject`.
struct MemoryTicket {
    uint8_t asker = 0;
    uint16_t part = 0;
    uint64_t subject = 0;
};
/// Asks which allocation had the block at an address after some of the device's events.
struct MemoryQuestion {
    uint64_t address = 0, sequence = 0;
    MemoryTicket ticket;
};
struct MemoryAnswer {
    MemoryTicket ticket;
    int64_t allocation = no_allocation_row;  ///< row id
};

/// The objects that the tracks of all devices share.
struct TrackContext {
    StreamingWriter& writer;
    Definitions& definitions;
    Origins& origins;
    const TickClock& clock;
    NumberBudget& budget;
    SiteWatch& sites;
    SiteLabels& labels;
    const std::map<std::string, std::string>& settings;  ///< of the allocator, values as JSON
    bool is_adaptive = false;                            ///< repeated steps are not written
};

class DeviceTrack {
public:
    DeviceTrack(int device, const TrackContext& context) : device_(device), context_(context) {}

    void on_event(const QueuedEvent& event);
    /// Handles a STATE record. Its pool ids belong to the thread.
    void on_state(const tidemark_record& record, const ThreadDefinitions& thread);

    /// Begins without memory, with driver allocations as events, unless it has begun. No caching allocator's settings
    /// apply.
    void begin_with_driver();

    /// Handles the end of a step: events after `time` (ns since trace start) belong to the next one.
    void step_ends(int64_t time);
    /// Keeps the events of this step and the next one, even if the trace becomes too large.
    void keep_details() { steps_to_keep_ = std::max(steps_to_keep_, 2); }

    /// Returns the row id of the allocation, or no_allocation_row if there is none. Returns nothing if those events
    /// have not arrived; take_answers() returns the answer later.
    std::optional<int64_t> ask(const MemoryQuestion& question);
    std::vector<MemoryAnswer> take_answers() { return std::exchange(answers_, {}); }

    /// Applies all events that are next in order. `at_end`: no more events arrive, so it skips missing ones and
    /// answers all questions.
    void advance(bool at_end);
    /// Writes the progress. The caller calls this before each commit.
    void report_progress();
    /// Reports inconsistencies as data gaps. Called once, at the end.
    void report_data_gaps();

    bool has_data() const { return replay_ && (replay_->events() > 0 || reported_segments_); }
    /// Returns the time (ns since trace start) until which events are written, if all until `read` were read.
    int64_t written_until(int64_t read) const { return step_.size() == 0 ? read : std::min(read, step_.first_time()); }
    /// Returns whether events are queued because an earlier one is missing.
    bool has_pending_events() const { return queue_.pending() > 0; }
    int64_t last_time() const { return replay_ ? replay_->last_time() : 0; }
    FileEvent events() const { return replay_ ? replay_->events() : 0; }
    /// Returns the trace's event number for one of the allocator's sequence numbers. It may still become smaller if
    /// !has_number(sequence).
    uint64_t number_of(uint64_t sequence) const { return numbering_.number_of(sequence); }
    bool has_number(uint64_t sequence) const { return sequence + step_.size() <= queue_.next(); }
    const DeviceReplay* replay() const { return replay_ ? &*replay_ : nullptr; }
    std::vector<SegmentChange> take_segment_changes() {
        return replay_ ? replay_->take_segment_changes() : std::vector<SegmentChange>();
    }
    int64_t checks_made() const { return checks_made_; }
    int64_t events_lost() const { return events_lost_; }

private:
    using Clock = std::chrono::steady_clock;

    struct IncompleteState {
        uint8_t purpose;
        AllocatorState state;
    };

    void begin(const AllocatorState& start, const AllocatorSettings& settings);
    bool has_begun(bool at_end);
    void apply_pending(bool at_end);
    int64_t answer_to(const MemoryQuestion& question) const;
    void settle(const MemoryQuestion& question);
    void settle_questions(const std::function<bool(const MemoryQuestion&)>& is_due);
    void answer_due_questions(uint64_t events);
    void answer_awaiting_questions();
    bool apply(const QueuedEvent& event, bool accepts_undefined);
    void take_in(const AllocatorEvent& event);
    void write(const AllocatorEvent& event);
    void end_steps(int64_t time);
    void end_step(int64_t time);
    void write_collected();
    void end_repeats(uint64_t next);
    void check(const AllocatorState& reported);
    void run_due_checks();
    bool may_skip(bool at_end);
    void skip_missing_events();
    void report_missing(DataGapReason reason, uint64_t count);

    const int device_;
    TrackContext context_;
    EventQueue queue_;
    EventNumbering numbering_;
    StepCollector step_;
    std::deque<int64_t> step_ends_;  ///< of steps whose events may not all have been collected
    int64_t step_start_ = 0;         ///< ns since trace start
    int steps_to_keep_ = 20;  ///< from now on. The first ones: caches fill in them, and explanations compare them
    std::set<int64_t> kept_;  ///< ends of the steps that others repeat
    int64_t level_ = 0;       ///< allocated bytes after the last step that was written
    std::optional<DeviceReplay> replay_;
    bool reported_segments_ = false;
    std::map<const ThreadDefinitions*, IncompleteState> incomplete_;  ///< states whose last record has not arrived
    std::deque<AllocatorState> checks_;                         ///< states to compare once their events are applied
    std::vector<MemoryQuestion> questions_;                     ///< a heap with the lowest sequence first
    std::unordered_multimap<uint64_t, MemoryTicket> awaiting_;  ///< a row of the unwritten block at this address
    std::vector<MemoryAnswer> answers_;
    std::optional<Clock::time_point> stuck_since_;
    int64_t events_lost_ = 0, events_refused_ = 0, checks_made_ = 0, checks_failed_ = 0;
};

}  // namespace tidemark::recorder
