// One device from its first message on: its events are put into order, held until its start state is known, replayed,
// and compared with what PyTorch says from time to time.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "recorder/daemon/definitions.h"
#include "recorder/daemon/device_replay.h"
#include "recorder/daemon/event_queue.h"
#include "recorder/daemon/tick_clock.h"

namespace tidemark::recorder {

/// For whom an answer is: the asker's own numbers.
struct MemoryTicket {
    uint8_t asker = 0;
    uint16_t part = 0;
    uint64_t subject = 0;
};
/// Which allocation had the block at this address when the device had seen so many events?
struct MemoryQuestion {
    uint64_t address = 0, sequence = 0;
    MemoryTicket ticket;
};
struct MemoryAnswer {
    MemoryTicket ticket;
    int64_t allocation = no_allocation_row;  ///< row id
};

/// What all devices share.
struct TrackContext {
    StreamingWriter& writer;
    Definitions& definitions;
    Origins& origins;
    const TickClock& clock;
    const std::map<std::string, std::string>& settings;  ///< of the allocator, values as JSON
};

class DeviceTrack {
public:
    DeviceTrack(int device, const TrackContext& context) : device_(device), context_(context) {}

    void on_event(const QueuedEvent& event);
    /// A STATE record of a thread; pools are the thread's.
    void on_state(const tidemark_record& record, const ThreadDefinitions& thread);

    /// Row id of the allocation, or no_allocation_row where none is known. Nothing: those events have not come; take_answers() will have it.
    std::optional<int64_t> ask(const MemoryQuestion& question);
    std::vector<MemoryAnswer> take_answers() { return std::exchange(answers_, {}); }

    /// Applies all events whose turn has come. `at_end`: nothing more comes, so nothing is waited for, and all
    /// questions are answered.
    void advance(bool at_end);
    /// Writes how far it got. To be called before each commit.
    void report_progress();
    /// Sentences about what was inconsistent. Once, at the end.
    void report_data_gaps();

    bool has_anything() const { return replay_ && (replay_->events() > 0 || reported_segments_); }
    /// Events are here whose turn has not come.
    bool waits() const { return queue_.pending() > 0; }
    int64_t last_time() const { return replay_ ? replay_->last_time() : 0; }
    EventNumber events() const { return replay_ ? replay_->events() : 0; }
    const DeviceReplay* replay() const { return replay_ ? &*replay_ : nullptr; }
    std::vector<SegmentChange> take_segment_changes() {
        return replay_ ? replay_->take_segment_changes() : std::vector<SegmentChange>();
    }
    int64_t checks_made() const { return checks_made_; }
    int64_t events_lost() const { return events_lost_; }

private:
    using Clock = std::chrono::steady_clock;

    struct Reporting {
        uint8_t purpose;
        AllocatorState state;
    };

    void begin(const AllocatorState& start);
    bool has_begun(bool at_end);
    void apply_pending(bool at_end);
    int64_t answer_to(const MemoryQuestion& question) const;
    void answer_those_due(uint64_t events);
    bool apply(const QueuedEvent& event, bool whatever_is_known);
    void check(const AllocatorState& reported);
    void check_those_due();
    bool waited_long_enough(bool at_end);
    void give_up_gap();

    const int device_;
    TrackContext context_;
    EventQueue queue_;
    std::optional<DeviceReplay> replay_;
    bool reported_segments_ = false;
    std::map<const ThreadDefinitions*, Reporting> reports_;  ///< states that are being told
    std::deque<AllocatorState> checks_;                     ///< to be compared when their moment comes
    std::vector<MemoryQuestion> questions_;                 ///< a heap, the lowest sequence in front
    std::vector<MemoryAnswer> answers_;
    std::optional<Clock::time_point> stuck_since_;
    int64_t events_lost_ = 0, events_refused_ = 0, checks_made_ = 0, checks_failed_ = 0;
};

}  // namespace tidemark::recorder
