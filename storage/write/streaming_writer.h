// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// Writes a trace during the run: rows as they are recorded, committed about every 100 ms.
//
// The file is in WAL mode while it is written, so that readers can follow it; finish() converts it to one ordinary
// file. The writer locks it with flock. If the writer is killed, the last commit stays. Allocations that are created
// and freed between two commits are written once, complete. Allocations that are alive at a commit are written then and
// completed later. The writer writes on its own thread; all calls must come from one other thread.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "storage/base/result.h"
#include "storage/trace/trace.h"
#include "storage/write/trace_rows.h"
#include "storage/write/trace_writer.h"

namespace tidemark {

class StreamingWriter {
public:
    /// Creates the trace directly at `path`, not under a temporary name, so that it can be opened from the first commit
    /// on. Writes the scalars and settings of `head`. Errors: as write_trace.
    /// `most_bytes`: the trace stays below this size; 0: any size.
    static Result<StreamingWriter> create(const std::string& path, IfExists if_exists, const Trace& head,
                                          int64_t most_bytes = 0);
    StreamingWriter(StreamingWriter&&) noexcept;
    StreamingWriter& operator=(StreamingWriter&&) noexcept;
    ~StreamingWriter();

    // Dictionaries. The same text, stack, stream or pool always gets the same id; every origin gets its own row.
    StackTable& stacks();
    uint32_t stream(uint64_t handle);
    uint32_t pool(int64_t owner_first, int64_t owner_second);
    uint32_t origin(const OriginRow& origin);
    void origin_changed(uint32_t id, const OriginRow& origin);
    void setting(const std::string& key, const std::string& json_value);
    void meta(const std::string& key, const std::string& value);

    // Rows. Times are ns since trace start; event numbers are per device. The returned ids are used to complete rows
    // later.
    void device(int device, const std::string& name, int64_t total_bytes, const std::string& uuid);
    void process(const Process& process);  ///< one row; a later call replaces it

    using LifetimeId = uint32_t;
    /// Adds an allocation. `row.lifetime.segment` is a position among the device's segments. Allocations from before
    /// the history come first, by address.
    LifetimeId created(int device, const AllocationRow& row);
    void free_requested(LifetimeId lifetime, FileEvent event, int64_t time, StackId stack);
    /// Completes a free. The id may be reused afterwards.
    void free_completed(LifetimeId lifetime, FileEvent event, int64_t time);

    int64_t row_id(LifetimeId lifetime) const;
    FileEvent alloc_event(LifetimeId lifetime) const;
    FileEvent free_event(LifetimeId lifetime) const;

    /// Returns the position among the device's segments. Segments must be added by ascending alloc_event.
    uint32_t segment_added(int device, const FileSegment& segment, int64_t time);
    void segment_removed(int device, uint32_t position, FileEvent event, int64_t time, StackId stack);
    void other_event(int device, const FileOtherEvent& event, int64_t time, uint32_t origin);

    /// `segment`: position among the segments of its device, or no_segment.
    int64_t driver_allocated(const DriverAllocation& allocation, uint32_t segment);
    void driver_in_segment(int64_t id, uint32_t segment);
    void driver_freed(int64_t id, int64_t time);
    void sample(const Sample& sample);

    int64_t annotation_begun(const Annotation& annotation, int64_t thread);
    void annotation_ended(int64_t id, int64_t end);
    void step(const Step& step);  ///< by number; a later call replaces it
    void drop_steps();            ///< removes all steps so far
    /// Adds steps that repeat an earlier one. Returns the row's id.
    int64_t repeated(int device, const FileRepeatedSteps& steps);
    void repeated_more(int64_t id, int device, const FileRepeatedSteps& steps);  ///< replaces the row
    /// Adds steps, or a part of a step, of which all events are written. `steps.like` and `events_left_out` do not
    /// count. If the trace becomes too large, the row replaces the events, the oldest first; not if `is_kept`.
    void complete_step(int device, const FileRepeatedSteps& steps, bool is_kept);
    void keep_last_steps(int count);          ///< of all devices together: their events stay
    void keep_step(int device, int64_t end);  ///< the same for the step that ended at this time
    void mark(const FileMark& mark);
    void data_gap(const DataGap& data_gap);
    void source_line(const SourceLineRow& row);  ///< each line of a file once
    void recording_cost(const RecordingCost& cost);

    /// Nodes must be added by ascending id, each followed by its edges and saved tensors.
    void node(int64_t id, const NodeRow& row);
    void edge(int64_t node, const EdgeRow& row);
    void saved_tensor(int64_t node, const SavedTensorRow& row);
    void node_changed(int64_t id, const NodeRow& row);  ///< its variable and times, as far as they are known
    void category(const CategoryRow& row);
    int64_t heap_scan(const HeapScan& scan);
    /// `links`: outermost first. `node` and `allocation`: row ids; 0 means none.
    void referrer(int64_t scan, int64_t node, int64_t allocation, std::span<const PathLinkRow> links);

    /// Sets the number of a device's events in the trace so far, and the event with the most allocated bytes.
    void progress_of(int device, FileEvent events, FileEvent peak_event);

    /// Passes all rows so far to the writing thread, complete up to trace time `complete_to`, and returns true; the
    /// previous rows are on the disk then. If that thread is still busy with them, passes nothing and returns false:
    /// call again later, and watch pending_bytes(). Fails after a write error (disk full); the trace then keeps the
    /// earlier commits.
    Result<bool> commit(int64_t complete_to);

    /// Waits for the writing thread, writes derived data (allocation_chunk) with bounded memory, records whether the
    /// end was clean, and leaves WAL mode.
    Status finish(int64_t duration, bool clean_end);

    /// Returns the approximate bytes of rows and texts that wait for the next commit. They grow if the disk is slow.
    size_t pending_bytes() const;
    /// Returns how many should wait at most: what waits is written at once, and then exceeds the size of the trace.
    size_t most_pending_bytes() const;

private:
    struct State;
    explicit StreamingWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace tidemark
