// Writes a trace while the run goes on: rows as they become known, committed about every 100 ms.
//
// The file is in WAL mode while it is written, so that readers follow it; finish() makes it one ordinary file. A
// writer that is killed leaves the last commit. Rows of allocations that are born and freed between two commits are
// written once, complete; what is alive at a commit is written then and completed later. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/base/result.h"
#include "storage/format/trace.h"
#include "storage/write/trace_writer.h"

namespace tidemark {

class LiveWriter {
public:
    /// Creates the trace at `path` itself (no other name: it can be opened from the first commit on). Of `head`, the
    /// scalars and settings are written. Errors: as write_trace.
    static Result<LiveWriter> create(const std::string& path, IfExists if_exists, const Trace& head);
    LiveWriter(LiveWriter&&) noexcept;
    LiveWriter& operator=(LiveWriter&&) noexcept;
    ~LiveWriter();

    // Dictionaries: the same thing always gets the same id. What is new is written by the next commit.
    StackTable& stacks();
    uint32_t stream(uint64_t handle);
    uint32_t pool(int64_t owner_first, int64_t owner_second);
    uint32_t origin(const Origin& origin);
    void setting(const std::string& key, const std::string& json_value);

    // Rows. Times are ns since trace start; event numbers per device. `*_id`s are returned to be completed later.
    void device(int device, const std::string& name, int64_t total_bytes, const std::string& uuid);
    void process(const Process& process);  ///< one row; a later call replaces it

    /// `row.segment` is a segment id (0: none). A birth; its end follows by free_requested and free_completed.
    struct Birth {
        int device = 0;
        EventNumber event = before_history;  ///< before_history: alive at the start
        int64_t time = 0;
        uint64_t address = 0, requested = 0, block_size = 0;
        int64_t segment = 0;
        StackId stack = 0;
        uint32_t origin = 0;
    };
    using LifeId = int64_t;  ///< row id of the allocation
    LifeId born(const Birth& birth);
    void free_requested(LifeId id, EventNumber event, int64_t time, StackId stack);
    void free_completed(LifeId id, EventNumber event, int64_t time);

    /// Of `segment` everything but free_event and free_stack is read; `time` of a before_history segment is not.
    int64_t segment_added(int device, const Segment& segment, int64_t time);
    void segment_removed(int64_t segment_id, EventNumber event, int64_t time, StackId stack);
    void other_event(int device, const OtherEvent& event, int64_t time, uint32_t origin);

    int64_t driver_allocated(const DriverAllocation& allocation, int64_t segment_id);
    void driver_freed(int64_t id, int64_t time);
    void sample(const Sample& sample);

    int64_t annotation_begun(const std::string& name, const std::string& kind, int device, int64_t thread,
                             int64_t start);
    void annotation_ended(int64_t id, int64_t end);
    void step(const Step& step);
    void mark(const Mark& mark);
    void loss(const Loss& loss);

    /// How many events of a device the trace holds so far, and its highest allocated bytes with their event.
    void progress_of(int device, EventNumber events, EventNumber peak_event);

    /// Makes everything told so far visible to readers, complete up to trace time `complete_to`. After an error (disk
    /// full) the trace keeps what was committed before.
    Status commit(int64_t complete_to);

    /// Writes what is derived (allocation_chunk) with bounded memory, marks a clean end or not, leaves WAL mode.
    Status finish(int64_t duration, bool clean_end);

    /// Rows and text waiting for the next commit, in bytes: what a slow disk makes the recorder hold.
    size_t pending_bytes() const;

private:
    struct State;
    explicit LiveWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace tidemark
