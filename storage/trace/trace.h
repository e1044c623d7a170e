// SPDX-FileCopyrightText: 2026 Tidemark developers
// SPDX-License-Identifier: Apache-2.0

// A trace in memory: the tables of schema.h as columns.
//
// One DeviceHistory per device contains every allocation as structure of arrays (about 60 bytes each) and the order of
// events. All analyses (replay, timeline, breakdown, explain, the window) read these columns and never SQL.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/trace/facts.h"
#include "storage/trace/file_numbers.h"
#include "storage/trace/source_text.h"
#include "storage/trace/stack_table.h"
#include "storage/trace/vocabulary.h"

namespace tidemark {

using AllocationIndex = uint32_t;
constexpr AllocationIndex no_allocation = UINT32_MAX;
constexpr uint32_t no_segment = UINT32_MAX;

/// One lifetime of a block, from alloc to free. The columns below describe its fields. Number: EventNumber in memory,
/// FileEvent in a file and while it is recorded; the same holds for the other templates.
template <class Number>
struct AllocationOf {
    Number alloc_event = before_history;
    Number free_event = std::numeric_limits<Number>::max(), free_completed = std::numeric_limits<Number>::max();
    uint64_t address = 0, requested = 0, block_size = 0;
    StackId stack = 0, free_stack = 0;
    uint32_t segment = no_segment, origin = 0;
    bool operator==(const AllocationOf&) const = default;

    template <class Other>
    AllocationOf<Other> numbered() const {
        return {event_as<Other>(alloc_event),
                event_as<Other>(free_event),
                event_as<Other>(free_completed),
                address,
                requested,
                block_size,
                stack,
                free_stack,
                segment,
                origin};
    }
};
using Allocation = AllocationOf<EventNumber>;
using FileAllocation = AllocationOf<FileEvent>;

/// An allocation with the times (ns since trace start) of its events, as in the file. The alloc time of an allocation
/// from before the history is 0. Times of events that did not happen are not read.
struct AllocationRow {
    FileAllocation lifetime;
    int64_t time = 0, free_time = 0, free_completed_time = 0;
};

/// Lifetimes of blocks, sorted by alloc_event. Those alive before event 0 come first.
///
/// Active in the state at event N:  alloc_event < N  and  N <= free_completed.
/// Allocated (not yet freed by its owner):  alloc_event < N  and  N <= free_event.
struct Allocations {
    std::vector<EventNumber> alloc_event;     ///< before_history for those alive at event 0
    std::vector<EventNumber> free_event;      ///< free requested; `never` if there was no request
    std::vector<EventNumber> free_completed;  ///< the block can be reused; `never` if it cannot
    std::vector<uint64_t> address;
    std::vector<uint64_t> requested;   ///< bytes
    std::vector<uint64_t> block_size;  ///< bytes taken: rounded up, or the whole unsplit block
    std::vector<StackId> stack;        ///< of the allocation
    std::vector<StackId> free_stack;   ///< of the free; 0 if unknown
    std::vector<uint32_t> segment;     ///< index into DeviceHistory::segments, or no_segment
    std::vector<uint32_t> origin;      ///< index into Trace::origins (0: unknown)

    uint32_t size() const { return static_cast<uint32_t>(alloc_event.size()); }
    void reserve(size_t count);
    void resize(size_t count);
    void push_back(const Allocation& row);
    /// Replaces the row at `index`, or appends it.
    void put(size_t index, const Allocation& row);
    Allocation at(size_t index) const;
    /// Each event allocates once; before the history there may be any number of allocations.
    bool are_in_order() const;
    /// Returns the first allocation that is not older than the history.
    AllocationIndex begin_of_history() const;
};

/// Memory that the allocator got from the driver. A segment of expandable memory is one mapped piece; adjacent pieces
/// of one stream and pool act as one.
template <class Number>
struct SegmentOf {
    uint64_t address = 0;
    uint64_t size = 0;
    Number alloc_event = before_history;
    Number free_event = std::numeric_limits<Number>::max();
    uint32_t stream = 0;  ///< index into Trace::streams
    uint32_t pool = 0;    ///< index into Trace::pools
    bool is_large = false;
    bool is_expandable = false;
    bool pool_known = true;
    StackId stack = 0;       ///< of the request that caused the driver call
    StackId free_stack = 0;  ///< of the call that returned the memory

    bool alive_at(Number n) const { return alloc_event < n && n <= free_event; }

    template <class Other>
    SegmentOf<Other> numbered() const {
        return {address,
                size,
                event_as<Other>(alloc_event),
                event_as<Other>(free_event),
                stream,
                pool,
                is_large,
                is_expandable,
                pool_known,
                stack,
                free_stack};
    }
};
using Segment = SegmentOf<EventNumber>;
using FileSegment = SegmentOf<FileEvent>;

/// An event without allocation or segment: snapshot taken, out of memory, unknown action.
template <class Number>
struct OtherEventOf {
    Number event = 0;
    Action action = Action::unknown;
    std::string name;      ///< PyTorch's spelling
    uint64_t address = 0;  ///< oom: free bytes of the device
    uint64_t size = 0;     ///< oom: bytes requested (rounded); snapshot: active bytes
    StackId stack = 0;
    uint32_t origin = 0;  ///< index into Trace::origins (0: unknown)

    template <class Other>
    OtherEventOf<Other> numbered() const {
        return {event_as<Other>(event), action, name, address, size, stack, origin};
    }
};
using OtherEvent = OtherEventOf<EventNumber>;
using FileOtherEvent = OtherEventOf<FileEvent>;

/// Steps of which not all events have rows. Either they did what a step before them did, the same allocations and frees
/// in the same order, and the recorder did not write their events; those in [event, after) describe what differs after
/// them. Or their events were written, and the details were deleted later to keep the file small; those in
/// [event, after) belong to allocations that outlived the steps, to segments and to other events.
template <class Number>
struct RepeatedStepsOf {
    Number event = 0;            ///< the state in which they lie: the number of events before them
    Number after = 0;            ///< the state after them
    int64_t start = 0, end = 0;  ///< ns since trace start
    /// ns since trace start: the end of the step that they repeat; nothing if details were deleted
    std::optional<int64_t> like;
    int64_t count = 0;            ///< steps; 0 for a part of a step
    int64_t events_left_out = 0;  ///< of these steps, without those that were written
    int64_t peak_allocated = 0, peak_active = 0, peak_requested = 0;  ///< bytes: highest within any of them
    /// The counters after the last of them (packed_counters.h). Empty: not recorded.
    std::string counters;

    bool are_details_deleted() const { return !like; }

    template <class Other>
    RepeatedStepsOf<Other> numbered() const {
        return {event_as<Other>(event),
                event_as<Other>(after),
                start,
                end,
                like,
                count,
                events_left_out,
                peak_allocated,
                peak_active,
                peak_requested,
                counters};
    }
};
using RepeatedSteps = RepeatedStepsOf<EventNumber>;
using FileRepeatedSteps = RepeatedStepsOf<FileEvent>;

/// The action of an event, and its index in allocations, segments or others.
struct EventRef {
    uint32_t packed = 0;
    EventRef() = default;
    EventRef(Action action, uint32_t index) : packed(static_cast<uint32_t>(action) << 28 | index) {}
    Action action() const { return static_cast<Action>(packed >> 28); }
    uint32_t index() const { return packed & 0x0fffffff; }
};

struct DeviceHistory {
    int device = 0;           ///< PyTorch's device index
    std::string name;         ///< "NVIDIA H200", empty if not recorded
    std::string uuid;         ///< "GPU-4a1f...", empty if not recorded
    int64_t total_bytes = 0;  ///< of the device, 0 if not recorded
    bool truncated = false;   ///< the beginning of the history was lost; the start state was derived from the end
    Allocations allocations;
    std::vector<Segment> segments;       ///< by alloc_event
    std::vector<OtherEvent> others;      ///< by event
    std::vector<RepeatedSteps> repeats;  ///< by event
    std::vector<int64_t> event_time;     ///< ns since trace start, never decreasing
    std::vector<EventRef> event_ref;     ///< same length
    FileNumbers numbers;                 ///< of these events in the file

    EventNumber event_count() const { return static_cast<EventNumber>(event_time.size()); }
    /// Returns the number of events at or before `time` (ns since trace start).
    EventNumber events_until(int64_t time) const;
    /// Returns the time of the state at event N: that of its last event (for N = 0, of the first event).
    int64_t time_of_state(EventNumber n) const;
    /// Returns the repeated steps during which the time lies; nullptr if its events were written.
    const RepeatedSteps* repeated_at(int64_t time) const;
    /// Returns the end of the state at event N: the time just before the next event, or `end`.
    int64_t time_until(EventNumber n, int64_t end) const;
    /// Returns the time of an allocation; for allocations from before the history, the time of the first event.
    int64_t alloc_time(AllocationIndex a) const;
    /// Returns the time of the free request; nothing if there was none.
    std::optional<int64_t> free_time(AllocationIndex a) const;
    /// Returns the row id in the file (table allocation), which also identifies the allocation in JSON.
    int64_t allocation_id(AllocationIndex a) const;
    std::optional<AllocationIndex> find_allocation(int64_t id) const;
    /// Returns the id as users read it: "410" on device 0, "1:410" on device 1, "before:12" and "before:1:12" for
    /// allocations from before the history.
    std::string allocation_name(AllocationIndex a) const;
    /// Accepts what allocation_name() returns, also as the window writes it ("#410", "#before 12"), and ids in digits.
    std::optional<AllocationIndex> find_allocation(std::string_view text) const;
};

struct Stream {
    uint64_t handle = 0;
    std::string name;
};  ///< handle 0 is the default stream
struct Pool {
    int64_t owner[2] = {0, 0};
    std::string describe() const;
};  ///< {0, 0}: the default pool

/// The context of an allocation in addition to its stack.
struct Origin {
    std::string op, module;
    Fact<Phase> phase;
    std::string compile_context, user_metadata;
    int64_t thread = 0;
};

/// A named span of time: record_function ranges, optimizer steps, phases. Spans without an end extend to the trace's
/// end.
struct Annotation {
    std::string name;
    Fact<AnnotationKind> kind;
    int device = 0;
    int64_t start = 0;  ///< ns since trace start
    int64_t end = 0;
    bool closed = true;  ///< false: the end was not recorded
};

template <class Number>
struct MarkOf {
    std::string name;
    int64_t time = 0;
    std::optional<double> value;
    std::map<int, Number> events;  ///< per device: number of earlier events; empty if only the time is known

    template <class Other>
    MarkOf<Other> numbered() const {
        MarkOf<Other> mark{name, time, value, {}};
        for (const auto& [device, number] : events) {
            mark.events[device] = event_as<Other>(number);
        }
        return mark;
    }
};
using Mark = MarkOf<EventNumber>;
using FileMark = MarkOf<FileEvent>;

/// Where a process belongs in a job of many processes.
struct JobPlace {
    std::optional<int64_t> rank = {};        ///< from 0, among all processes of the job
    std::optional<int64_t> local_rank = {};  ///< from 0, among those of its node
    std::optional<int64_t> world_size = {};  ///< the number of ranks
    std::string node = {};                   ///< the name of the machine; empty if not recorded
    std::string role = {};  ///< "DataLoader worker", "VLLM::Worker_TP1"; empty: the program did not say

    bool operator==(const JobPlace&) const = default;
};

/// A process of the run. A trace contains one process.
struct Process {
    int64_t pid = 0;
    JobPlace place;
    std::string command_line;
    int64_t start = 0;           ///< ns since trace start
    std::optional<int64_t> end;  ///< nothing: still running, or the end is unknown
    std::optional<int64_t> exit_status;
    Fact<ProcessEnd> how_ended;
};

/// One training step: from the end of the previous step to its own end.
struct Step {
    int64_t number = 0;  ///< from 0
    Fact<StepSource> source;
    int64_t start = 0;  ///< ns since trace start
    std::optional<int64_t> end;
};

/// Driver memory that a part of the process allocated.
struct DriverAllocation {
    Fact<DriverMemoryKind> kind;
    int device = 0;  ///< -1: none (host memory)
    uint64_t address = 0;
    uint64_t bytes = 0;
    int64_t time = 0;  ///< ns since trace start
    std::optional<int64_t> free_time;
    std::string source;  ///< the shared object that allocated it: "libcublas.so.13"
    StackId stack = 0;
    bool in_allocator = false;  ///< a segment of the caching allocator, which counts it
};

/// One NVML sample; without a pid, of the whole device.
struct Sample {
    int64_t time = 0;  ///< ns since trace start
    int device = 0;
    std::optional<int64_t> pid;
    int64_t used_bytes = 0;
    int64_t total_bytes = 0;  ///< of the device; 0 for processes
    Fact<SampleSource> source;
};

/// Values by name. Numbers are decimal text.
using DataGapArguments = std::map<std::string, std::string, std::less<>>;

struct DataGap {
    DataGapKind kind = DataGapKind::unclean_end;
    int device = -1;  ///< -1: the whole trace
    int64_t time = 0;
    int64_t count = 0;
    int64_t bytes = 0;
    Fact<DataGapReason> reason;
    DataGapArguments arguments;  ///< of the reason
    /// A sentence if `reason` does not produce one: for formats 1 and 2, and for a reason that this version does not
    /// know.
    std::string text;

    /// Returns an argument; empty if there is none.
    std::string argument(std::string_view name) const;
    int64_t number(std::string_view name) const;
};

/// What the events of the devices are.
enum class EventSource : uint8_t {
    caching_allocator,  ///< PyTorch's
    driver,             ///< each allocation from the driver is a segment with one block
};

struct Trace {
    std::string path;
    int64_t file_bytes = 0;  ///< including the log, if the trace was not finished
    int format_version = 0;
    Integrity integrity = Integrity::unfinished;
    std::string source;        ///< origin: "PyTorch snapshot run.pickle (pickle protocol 4)"
    std::string writer;        ///< program and version that wrote the file
    int64_t start_utc_ns = 0;  ///< wall-clock time of the trace's start; 0 if unknown
    int64_t duration = 0;      ///< ns, up to the last event or annotation
    bool clean_end = true;
    bool being_written = false;  ///< a recorder was writing it when it was read, so its end is not the end of the run
    int64_t most_bytes = 0;      ///< the size below which the recorder kept the file; 0: any size
    int64_t committed_time = 0;  ///< ns: all records up to this time were written; 0 if unknown
    EventSource event_source = EventSource::caching_allocator;
    std::map<std::string, std::string> settings;  ///< allocator settings, values as JSON text

    StackTable stacks;
    SourceText source_text;  ///< recorded traces only, unless --no-source
    std::vector<Stream> streams;
    std::vector<Pool> pools;
    std::vector<Origin> origins;  ///< index 0: unknown
    std::vector<Annotation> annotations;
    std::vector<Mark> marks;
    std::vector<DataGap> data_gaps;
    std::vector<Process> processes;   ///< recorded traces only, like the four below
    std::optional<int64_t> nvml_pid;  ///< the process's pid in NVML's numbering, if it differs (in containers)
    std::vector<Step> steps;          ///< by time
    std::vector<DriverAllocation> driver_allocations;  ///< by time
    std::vector<Sample> samples;                       ///< by time
    std::vector<DeviceHistory> devices;                ///< only devices with events or segments; by device index

    const DeviceHistory* device(int index) const;
    /// Returns the device shown first: the one with most events.
    const DeviceHistory& main_device() const;
};

}  // namespace tidemark
